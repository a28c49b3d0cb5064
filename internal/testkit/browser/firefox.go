package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrNoFirefox says that there is no Firefox on this machine.
var ErrNoFirefox = errors.New("no Firefox on PATH (Debian: apt-get install firefox-esr)")

// firefoxNames are the names under which distributions have it.
var firefoxNames = []string{"firefox-esr", "firefox"}

// Firefox is a Firefox without a window, driven by Marionette, its own remote protocol: packets "LENGTH:JSON" over TCP, as
// geckodriver sends them (firefox-source-docs.mozilla.org/testing/marionette/Protocol.html). One caller at a time.
type Firefox struct {
	command *exec.Cmd
	profile string
	conn    net.Conn
	from    *bufio.Reader
	last    int
	mu      sync.Mutex
	said    []string // what pages wrote to the console
	heard   chan struct{}
}

// patience is how long the browser may take to start, or to answer once.
const patience = 60 * time.Second

// preferences let the port be any free one, write to standard output what pages write to the console, and keep the browser from
// asking anybody for anything.
const preferences = `user_pref("marionette.port", 0);
user_pref("devtools.console.stdout.chrome", false);
user_pref("devtools.console.stdout.content", true);
user_pref("app.update.disabledForTesting", true);
user_pref("app.normandy.enabled", false);
user_pref("messaging-system.rsexperimentloader.enabled", false);
user_pref("nimbus.rollouts.enabled", false);
user_pref("app.shield.optoutstudies.enabled", false);
user_pref("browser.newtabpage.enabled", false);
user_pref("browser.startup.page", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.server", "data:,");
`

// OpenFirefox starts the machine's Firefox with a new profile and a window of 1280×720, in a language where numbers are written as the
// page writes them.
func OpenFirefox() (*Firefox, error) {
	path := ""
	for _, name := range firefoxNames {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, ErrNoFirefox
	}
	profile, err := os.MkdirTemp("", "firefox")
	if err != nil {
		return nil, err
	}
	f := &Firefox{profile: profile, heard: make(chan struct{})}
	if err := f.start(path); err != nil {
		f.Close()
		return nil, fmt.Errorf("firefox: %w", err)
	}
	return f, nil
}

func (f *Firefox) start(path string) error {
	if err := os.WriteFile(filepath.Join(f.profile, "user.js"), []byte(preferences), 0o600); err != nil {
		return err
	}
	f.command = exec.Command(path, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", f.profile)
	f.command.Env = append(os.Environ(), "HOME="+f.profile, "MOZ_CRASHREPORTER_DISABLE=1")
	out, err := f.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := f.command.Start(); err != nil {
		return err
	}
	go f.hear(out)
	if f.conn, err = f.connect(); err != nil {
		return err
	}
	f.from = bufio.NewReader(f.conn)
	if _, err := f.packet(); err != nil { // its greeting
		return err
	}
	if err := f.call("WebDriver:NewSession", map[string]any{"strictFileInteractability": true}, nil); err != nil {
		return err
	}
	return f.call("WebDriver:SetWindowRect", map[string]any{"width": 1280, "height": 720}, nil)
}

// connect waits for the file in which the browser names its port.
func (f *Firefox) connect() (net.Conn, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(f.profile, "MarionetteActivePort"))
		if port := strings.TrimSpace(string(text)); err == nil && port != "" {
			return net.Dial("tcp", "127.0.0.1:"+port)
		}
	}
	return nil, errors.New("it names no port")
}

// hear keeps what pages write to the console.
func (f *Firefox) hear(out io.Reader) {
	defer close(f.heard)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := lines.Text()
		own := strings.HasPrefix(line, "console.error: RSLoader:") // Firefox's own settings, which it asks a server for
		if !own && (strings.HasPrefix(line, "console.error") || strings.HasPrefix(line, "console.warn")) {
			f.mu.Lock()
			f.said = append(f.said, line)
			f.mu.Unlock()
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

func (f *Firefox) packet() ([]byte, error) {
	if err := f.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	length, err := f.from.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(f.from, body)
	return body, err
}

// call runs a command of the protocol and decodes what it answers; to may be nil.
func (f *Firefox) call(name string, params map[string]any, to any) error {
	f.last++
	body, err := json.Marshal([]any{0, f.last, name, params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(body), body); err != nil {
		return err
	}
	if body, err = f.packet(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var failed *struct{ Error, Message string }
	var value json.RawMessage
	answer := []any{new(int), new(int), &failed, &value}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s: %s: %s", name, failed.Error, failed.Message)
	}
	if to == nil {
		return nil
	}
	return json.Unmarshal(value, to)
}

// Go opens an address and waits until it is loaded.
func (f *Firefox) Go(address string) error {
	return f.call("WebDriver:Navigate", map[string]any{"url": address}, nil)
}

// Text evaluates a JavaScript expression, or waits for it where it is a promise, and gives its value as JSON.
func (f *Firefox) Text(expression string) (string, error) {
	var got struct{ Value string }
	err := f.call("WebDriver:ExecuteAsyncScript", map[string]any{"args": []any{}, "sandbox": nil,
		"script": "const [done] = arguments; (async () => JSON.stringify(await (" + expression + ")) ?? \"null\")()" +
			".then(done, e => done(\"!\" + e))"}, &got)
	if err == nil && strings.HasPrefix(got.Value, "!") {
		err = fmt.Errorf("%s: %s", expression, got.Value[1:])
	}
	return got.Value, err
}

// Perform lets real input come to the page: actions as WebDriver lists them (w3.org/TR/webdriver2, "Actions").
func (f *Firefox) Perform(actions ...map[string]any) error {
	return f.call("WebDriver:PerformActions", map[string]any{"actions": actions}, nil)
}

// Press presses a key: a character, or one of WebDriver's codes.
func (f *Firefox) Press(key string) error {
	return f.Perform(map[string]any{"type": "key", "id": "keys",
		"actions": []any{map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key}}})
}

// Picture is what is seen, as PNG.
func (f *Firefox) Picture() ([]byte, error) {
	var got struct{ Value string }
	if err := f.call("WebDriver:TakeScreenshot", map[string]any{"full": false}, &got); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(got.Value)
}

// Complaints are the errors and warnings that the browser has of pages whose address begins with a prefix: exceptions, breaches of
// their policy, and what they wrote to the console.
func (f *Firefox) Complaints(prefix string) ([]string, error) {
	for _, context := range []string{"chrome", "content"} {
		if err := f.call("Marionette:SetContext", map[string]any{"value": context}, nil); err != nil {
			return nil, err
		}
		if context == "content" {
			break
		}
		var got struct{ Value []string }
		if err := f.call("WebDriver:ExecuteScript", map[string]any{"args": []any{prefix}, "script": `return Services.console.getMessageArray()
			.filter(m => m instanceof Ci.nsIScriptError && m.sourceName.startsWith(arguments[0])).map(m => m.category + ": " + m.errorMessage)`},
			&got); err != nil {
			return nil, err
		}
		f.mu.Lock()
		f.said = append(f.said, got.Value...)
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.said, nil
}

// Close ends the browser and removes its profile.
func (f *Firefox) Close() {
	if f.conn != nil {
		_ = f.call("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}}, nil)
		f.conn.Close()
	}
	if f.command != nil && f.command.Process != nil {
		ended := time.AfterFunc(5*time.Second, func() { _ = f.command.Process.Kill() })
		<-f.heard
		_ = f.command.Wait()
		ended.Stop()
	}
	os.RemoveAll(f.profile)
}
