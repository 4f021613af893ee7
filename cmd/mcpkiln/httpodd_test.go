package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// secured is a server with a certificate for names that every command of the test trusts, and its port.
func secured(t *testing.T, expires time.Time, names ...string) (port string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: expires.Add(-time.Hour), NotAfter: expires, DNSNames: names, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	ts := httptest.NewUnstartedServer(http.NotFoundHandler())
	ts.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	t.Cleanup(ts.Close)
	_, port, _ = net.SplitHostPort(ts.Listener.Addr().String())
	return port
}

// TestACertificateThatDoesNotFitReadsWell: who trusts another authority does not mend these.
func TestACertificateThatDoesNotFitReadsWell(t *testing.T) {
	valid := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		expires time.Time
		names   []string
		says    string
	}{
		"another name": {valid, []string{"shop.example", "www.shop.example"}, "is the address right? The certificate is for shop.example, www.shop.example\n"},
		"many names":   {valid, strings.Split(strings.Repeat("shop.example ", 99)+"last", " "), "shop.example and 88 more\n"},
		"a bad name":   {valid, []string{"shop.example\n\x1b[31m"}, `The certificate is for shop.example \x1b[31m`},
		"no name":      {valid, nil, "The certificate names no host\n"},
		"expired":      {time.Now().Add(-time.Minute), []string{"localhost"}, "the server has to renew its certificate"},
	} {
		status, _, stderr := runs(t, "tools", "https://localhost:"+secured(t, c.expires, c.names...))
		if status != exitNetwork || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "SSL_CERT_FILE") {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
	}
}

// alerts is a server of TLS that answers anything else as many do.
func alerts(t *testing.T) (address string) {
	return accepts(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1<<16)) // else closing it may drop the alert
		_, _ = io.WriteString(conn, "\x15\x03\x01\x00\x02\x02\x46")
	})
}

// TestAnAddressOfTheWrongSchemeReadsWell: the other one is named.
func TestAnAddressOfTheWrongSchemeReadsWell(t *testing.T) {
	alert := alerts(t)
	for address, says := range map[string]string{
		"https" + strings.TrimPrefix(bad(t, 200, "", "text/plain", ""), "http"):                                    "write http:// in place of https://",
		"http://localhost:" + secured(t, time.Now().Add(time.Hour), "localhost"):                                   "write https:// in place of http://",
		bad(t, 400, "", "text/html", "<h1>400</h1><center>The plain HTTP request was sent to HTTPS port</center>"): "write https:// in place of http://",
		alert: "write https:// in place of http://",
	} {
		if status, _, stderr := runs(t, "tools", address); status != exitNetwork && status != exitProtocol || !strings.Contains(stderr, says) {
			t.Errorf("%s: status %d: %s", address, status, stderr)
		}
	}
}

// TestARedirectToNowhereIsNotToBeFollowed: there is no address to write.
func TestARedirectToNowhereIsNotToBeFollowed(t *testing.T) {
	for _, redirect := range []int{301, 302, 303, 307, 308} {
		status, _, stderr := runs(t, "tools", bad(t, redirect, "", "text/plain", ""))
		if status != exitNetwork || !strings.Contains(stderr, "it has no Location\n") || strings.Contains(stderr, "that address") || !strings.Contains(stderr, whichPath) {
			t.Errorf("%d: status %d: %s", redirect, status, stderr)
		}
	}
}

// TestASessionThatIsGoneHasNoWrongPath: the address is that of the requests before.
func TestASessionThatIsGoneHasNoWrongPath(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(ts.Close)
	status, _, stderr := runs(t, "tools", "--revision=2025-11-25", ts.URL)
	if status != exitNetwork || strings.Contains(stderr, "path") || !strings.Contains(stderr, "the server has ended the session") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestTheTimeoutIsOneForTheWholeBeginning: a server that lets it pass during discovery gets no handshake with a time of its own.
func TestTheTimeoutIsOneForTheWholeBeginning(t *testing.T) {
	var mu sync.Mutex
	var seen bytes.Buffer
	ts := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen.Write(body)
		mu.Unlock()
		<-r.Context().Done()
	}))
	t.Cleanup(ts.Close)
	status, _, stderr := runs(t, "tools", "--timeout=200ms", ts.URL)
	mu.Lock()
	defer mu.Unlock()
	if status != exitTimeout || stderr != "mcpkiln: the request was not done after 200ms\n  "+timeoutHelp+"\n" || strings.Contains(seen.String(), `"initialize"`) || !strings.Contains(seen.String(), "server/discover") {
		t.Errorf("status %d: %s\n%s", status, stderr, &seen)
	}
}

// TestOnAPipeHalfOfTheTimeoutIsForTheHandshake: a server that wants that may never answer a discovery, whatever the timeout is.
func TestOnAPipeHalfOfTheTimeoutIsForTheHandshake(t *testing.T) {
	status, _, stderr := runs(t, "tools", "--timeout=1s", "--", "sh", "-c", `read line; read line; id=${line#*'"id":'}; echo "{\"jsonrpc\":\"2.0\",\"id\":${id%%[,\}]*},\"error\":{\"code\":-32000,\"message\":\"$(echo "$line" | grep -o initialize)\"}}"; sleep 60`)
	if status != exitProtocol || !strings.Contains(stderr, "the server refuses to begin: initialize (code -32000)\n") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
