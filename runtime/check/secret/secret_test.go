package secret

import "testing"

// What https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-security forbids to ask for in a form, as schemas
// spell it, and what only looks like it.
func TestLET04NamesOfSecrets(t *testing.T) {
	for _, name := range []string{
		"password", "Password", "passwd", "pwd", "dbPassword", "new_password", "password2", "passwordAgain", "password_confirmation", "Your password, please", "pass-phrase",
		"passcode", "pass_code", "pin", "PIN", "card_pin", "cardPinCode", "login pin", "pin-number", "PIN of your card", "cvv", "CVV2", "cvc", "cardCvc", "ssn", "SSN", "customerSSN",
		"social_security_number", "otp", "OTP", "otpCode", "oneTimePassword", "one-time-code", "totp", "mfaCode", "2faCode", "credential", "awsCredentials", "privateKey",
		"private_key", "PRIVATE-KEY", "ssh private key", "seedPhrase", "seed phrase", "recovery_phrase", "backupCodes", "mnemonic", "apiKey", "api_key", "API-KEY", "apikey",
		"API key", "openaiApiKey", "accessToken", "githubToken", "auth_token", "session-token", "clientSecret", "client.secret", "creditCard", "credit_card_number",
		"cardNumber", "security code", "Secret", "secretAccessKey", "The name and password", "encryptionKey",
		"bearer", "Bearer", "bearerAuth", "jwt", "JWT", "session_id", "sessionId", "SESSIONID", "session-id", "sessionCookie", "auth_cookie", "cookie", "pass", "PASS", "pw", "dbPass", "user_pass", "smtpPass",
		"pswd", "creds", "appKey", "master_key", "deployKey", "serviceAccountKey", "id_rsa", "authorizationCode", "authHeader", "auth_key", "connectionString", "conn_str",
		"securityAnswer", "verificationCode", "smsCode", "two_factor_code", "bankAccountNumber",
	} {
		if f := (Field{Name: name}); f.Asked() == "" {
			t.Errorf("%q is named like a secret", name)
		}
	}
	for _, name := range []string{
		"", "shipping", "shippingAddress", "spinner", "pinned", "pinnedMessage", "opinion", "pinpoint", "tokenizer", "tokens", "maxTokens", "token_count", "tokenLimit",
		"tokens per minute", "secretary", "secretaryName", "passwordPolicy", "password_length", "passwordManager", "credentialType", "apiKeyName", "api_key_id", "keyboard",
		"key", "primaryKey", "keyword", "card", "cardHolder", "cardBrand", "creditCardType", "postcard", "dashboard", "zipCode", "postalCode", "countryCode", "passenger", "passport",
		"compass", "bypass", "hotp", "stop", "laptop", "session", "sessions", "sessionName", "boardingPass", "ski_pass", "passed", "cookies", "favourite cookie", "forbearer", "account number", "masterKeyName", "username", "email", "pinColor", "pin_location", "pinCode", "pin_code", "PIN code", "recovery_time", "seed", "phrase", "mnemonics_page", "classno",
	} {
		if f := (Field{Name: name}); f.Asked() != "" {
			t.Errorf("%q is not named like a secret", name)
		}
	}
}

// Numbers are secrets where digits are kept secret, and not where something is counted.
func TestLET04NumbersThatAreSecrets(t *testing.T) {
	for _, f := range []Field{
		{Name: "pin"}, {Name: "PIN"}, {Name: "cardPin"}, {Name: "cvv"}, {Name: "cardNumber"}, {Name: "otp"}, {Name: "verification_code"}, {Name: "ssn"}, {Name: "passcode"},
		{Name: "value", Title: "Security code"}, {Name: "value", Description: "Your PIN"}, {Name: "value", Message: "Enter the one-time code"},
	} {
		if f.Number = true; f.Asked() == "" {
			t.Errorf("%+v is a secret", f)
		}
	}
	for _, f := range []Field{
		{Name: "token"}, {Name: "maxTokens"}, {Name: "secrets"}, {Name: "passwords"}, {Name: "credentials"}, {Name: "sessionId"}, {Name: "pin_count"}, {Name: "pinCode"}, {Name: "otpLength"}, {Name: "pass"},
		{Name: "amount", Message: "Enter your password"}, {Name: "amount", Description: "Tokens to spend"},
	} {
		if f.Number = true; f.Asked() != "" {
			t.Errorf("%+v: %s", f, f.Asked())
		}
	}
}

// What a description or a message asks for is a secret of the field, and what only speaks of one is none.
func TestLET04TextsThatAskForSecrets(t *testing.T) {
	for _, text := range []string{
		"Your password.", "API key", "The API key of the account.", "GitHub token", "Your GitHub token, which is not stored.", "A new password", "Current password", "Credit card number",
	} {
		if f := (Field{Name: "value", Description: text}); f.Asked() == "" {
			t.Errorf("the description asks for a secret: %s", text)
		}
	}
	for _, text := range []string{
		"Enter your password", "Please enter the API key for billing.", "To go on, provide your GitHub access token:", "What is your PIN?", "We need your credit card number.", "Type the one-time code.",
	} {
		for _, f := range []Field{{Name: "value", Message: text}, {Name: "value", Description: text}} {
			if f.Asked() == "" {
				t.Errorf("it asks for a secret: %+v", f)
			}
		}
	}
	for _, text := range []string{
		"", "Rotate the API key?", "Your token has expired. Overwrite orders?", "Delete the secret of this account? Say why.", "Never enter your password here.", "Do not type your password.",
		"Provide a reason for rotating the token.", "Enter the name of the API key.", "Which password policy applies?", "Enter the token limit.", "Your PIN code and town.", "Enter your pin code.",
		"Expiry of the token.", "Tell us about password managers.", "Login, without the password.", "Enter a username instead of a password.", "Name of the secret.",
	} {
		for _, f := range []Field{{Name: "value", Message: text}, {Name: "value", Description: text}} {
			if why := f.Asked(); why != "" {
				t.Errorf("%+v: %s", f, why)
			}
		}
	}
}
