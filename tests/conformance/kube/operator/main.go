// Command operator stands in for the container of any operator: it answers 200 on every port that PORTS names, plain or
// with TLS as the client begins, and lets webhooks allow and convert what they are asked about. Where ENDS is set it
// ends at once, as the container of an initialization does.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	tlsRecord = 0x16
	patience  = 10 * time.Second
	leave     = 3 * time.Second // Services learn late that a Pod ends
)

// Where OLM mounts the certificate of a Deployment.
var pairs = [][2]string{
	{"/tmp/k8s-webhook-server/serving-certs/tls.crt", "/tmp/k8s-webhook-server/serving-certs/tls.key"},
	{"/apiserver.local.config/certificates/apiserver.crt", "/apiserver.local.config/certificates/apiserver.key"},
}

// review is what an API server asks a webhook, and what it is told: fields that are of the other kind stay away.
type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    *struct {
		UID     string           `json:"uid"`
		Desired string           `json:"desiredAPIVersion"`
		Objects []map[string]any `json:"objects"`
	} `json:"request,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

func main() {
	if os.Getenv("ENDS") != "" {
		return
	}
	ended, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, port := range strings.Fields(os.Getenv("PORTS")) {
		go serve(port)
	}
	<-ended.Done()
	time.Sleep(leave)
}

// serve answers on a port; while another container of the Pod has it, that one does.
func serve(port string) {
	for {
		listener, err := net.Listen("tcp", ":"+port)
		if err == nil {
			fmt.Println("serving", port)
			err = (&http.Server{Handler: http.HandlerFunc(answer)}).Serve(sniffing{listener, accept(listener)})
		}
		fmt.Println(err)
		time.Sleep(time.Second)
	}
}

// sniffing is a listener whose connections speak TLS where their clients do.
type sniffing struct {
	net.Listener
	found <-chan net.Conn
}

func (s sniffing) Accept() (net.Conn, error) {
	conn, ok := <-s.found
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func accept(listener net.Listener) <-chan net.Conn {
	found := make(chan net.Conn)
	go func() {
		defer close(found)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { found <- sniffed(conn) }()
		}
	}()
	return found
}

// begun is a connection whose first byte was looked at.
type begun struct {
	net.Conn
	reader *bufio.Reader
}

func (b begun) Read(into []byte) (int, error) { return b.reader.Read(into) }

func sniffed(conn net.Conn) net.Conn {
	whole := begun{conn, bufio.NewReader(conn)}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	first, _ := whole.reader.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	if len(first) == 0 || first[0] != tlsRecord {
		return whole
	}
	return tls.Server(whole, &tls.Config{GetCertificate: certificate})
}

// certificate is read at each handshake, because it changes.
func certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	for _, pair := range pairs {
		if found, err := tls.LoadX509KeyPair(pair[0], pair[1]); err == nil {
			return &found, nil
		}
	}
	return nil, fmt.Errorf("no certificate is mounted")
}

func answer(writer http.ResponseWriter, request *http.Request) {
	var asked review
	if request.Method != http.MethodPost || json.NewDecoder(request.Body).Decode(&asked) != nil || asked.Request == nil {
		return
	}
	response := map[string]any{"uid": asked.Request.UID, "allowed": true}
	if asked.Kind == "ConversionReview" {
		for _, object := range asked.Request.Objects {
			object["apiVersion"] = asked.Request.Desired
		}
		result := map[string]string{"status": "Success"}
		response = map[string]any{"uid": asked.Request.UID, "result": result, "convertedObjects": asked.Request.Objects}
	}
	fmt.Println(asked.Kind, request.URL.Path)
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(review{asked.APIVersion, asked.Kind, nil, response})
}
