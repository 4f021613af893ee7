package secret

import "testing"

// What https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-security forbids to ask for in a form, as schemas
// spell it, and what only looks like it.
func TestLET04NamesOfSecrets(t *testing.T) {
	for _, name := range []string{
		"password", "Password", "passwd", "pwd", "dbPassword", "new_password", "password2", "passwordAgain", "password_confirmation", "Your password, please", "pass-phrase",
		"passcode", "pass_code", "pin", "PIN", "card_pin", "pinCode", "pin-number", "PIN of your card", "cvv", "CVV2", "cvc", "cardCvc", "ssn", "SSN", "customerSSN",
		"social_security_number", "otp", "OTP", "otpCode", "oneTimePassword", "one-time-code", "totp", "mfaCode", "2faCode", "credential", "awsCredentials", "privateKey",
		"private_key", "PRIVATE-KEY", "ssh private key", "seedPhrase", "seed phrase", "recovery_phrase", "backupCodes", "mnemonic", "apiKey", "api_key", "API-KEY", "apikey",
		"API key", "openaiApiKey", "accessToken", "githubToken", "auth_token", "session-token", "clientSecret", "client.secret", "creditCard", "credit_card_number",
		"cardNumber", "security code", "Secret", "secretAccessKey", "The name and password", "encryptionKey",
	} {
		if !Named(name) {
			t.Errorf("%q is named like a secret", name)
		}
	}
	for _, name := range []string{
		"", "shipping", "shippingAddress", "spinner", "pinned", "pinnedMessage", "opinion", "pinpoint", "tokenizer", "tokens", "maxTokens", "token_count", "tokenLimit",
		"tokens per minute", "secretary", "secretaryName", "passwordPolicy", "password_length", "passwordManager", "credentialType", "apiKeyName", "api_key_id", "keyboard",
		"key", "primaryKey", "keyword", "card", "cardHolder", "cardBrand", "creditCardType", "postcard", "dashboard", "zipCode", "postalCode", "countryCode", "passenger", "passport",
		"compass", "bypass", "hotp", "stop", "laptop", "session", "sessionId", "username", "email", "pinColor", "pin_location", "recovery_time", "seed", "phrase", "mnemonics_page", "classno",
	} {
		if Named(name) {
			t.Errorf("%q is not named like a secret", name)
		}
	}
}
