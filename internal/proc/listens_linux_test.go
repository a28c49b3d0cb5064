package proc

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A process listens as long as it has a socket that accepts, by TCP or on its own host; a connection is none.
func TestListens(t *testing.T) {
	told := func() bool {
		t.Helper()
		yes, err := Listens(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	if told() {
		t.Error("a process without sockets listens")
	}
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		if !told() {
			t.Errorf("%s: not seen to listen", network)
		}
		client, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if told() {
			t.Errorf("%s: seen to listen with a connection only", network)
		}
		client.Close()
	}
}
