package pysource

import (
	"slices"
	"testing"
)

func TestCallsInALine(t *testing.T) {
	for _, c := range []struct {
		line string
		want []Call
	}{
		{"loss = torch.log(p)  # .item()", []Call{{"torch", "log", "p"}}},
		{`print("input(x)", rows[3].get(key), f())`, []Call{{"", "print", "0, rows[3].get(key), f()"}, {"?", "get", "key"}, {"", "f", ""}}},
		{"if (ready) and not (done):", nil},
		{"def input(self, x):", nil},
		{"async def get(self):", nil},
		{"x = self.head.input(x, other(", []Call{{"self.head", "input", "x, other("}, {"", "other", ""}}},
		{"model(x).log()", []Call{{"", "model", "x"}, {"?", "log", ""}}},
		{"", nil},
	} {
		if got := callsIn(c.line); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.line, got, c.want)
		}
	}
}

// Words in names, strings and comments are no calls.
func TestWhatALineDoes(t *testing.T) {
	for _, c := range []struct {
		what string
		says func(string) bool
		yes  []string
		no   []string
	}{
		{"logs", func(s string) bool { return Does(s, func(c Call) bool { return c.Writes() || c.OfLog() }) },
			[]string{`logger.info("step %d", i)`, "print(loss)", `self.log("loss", loss)`, "wandb.log({'loss': x})", "out.write(text)",
				"writer.writerow(row)", "log_metrics(step)", "os.fsync(f)", "self.train_log.info(x)"},
			[]string{"x = torch.log(load(path))", "dialog = read_dialog(path)", "catalog = open(path)", `names = read(path)  # the log`,
				`rows = read("write.txt")`, "x = table.read().log()", "topology = load(p)"}},
		{"waits for a request", Accepts,
			[]string{"conn, _ = server.accept()", `name = input("? ")`, "for line in sys.stdin:", "loop.run_forever()",
				"httpd.serve_forever()"},
			[]string{"x = self.input(x)", `h = net.input (x)`, "def input(self):", `open("stdin.txt")`, "wait(x)  # then accept()"}},
		{"asks another thread or process", AsksFor,
			[]string{"item = q.get()", "q.get(timeout=5)", "q.get(True, 3)", "conn.recv()", "f.result(10)",
				"sock.recv_into(b)", "event.wait()"},
			[]string{`time.sleep(self.options.get("delay", 1))`, "time.sleep(delays.get(i))", `sleep(1)  # q.get()`}},
		{"starts a program", StartsCommand,
			[]string{`raw = subprocess.run(["ffmpeg", "-i", path]).stdout`, "out, _ = process.communicate()", `os.system("sox a b")`,
				"text = check_output(command)", "p = Popen(command)"},
			[]string{"os.path.join(a, b)", "model.run(x)", "raw = path.read_bytes()  # no subprocess.run()", "conn.recv()"}},
		{"waits up to a time", WaitsUpTo,
			[]string{"q.get(timeout=5)", "q.get(True, 3)", "q.get(block=True, timeout=left)", "f.result(10)", "event.wait(0.5)",
				"t.join(timeout=1)", "await asyncio.wait_for(q.get(), 0.1)", "conn.poll(1)"},
			[]string{"q.get()", "q.get(True)", "q.get(timeout=None)", "d.get(key, 3)", "event.wait()", "sep.join(parts)", "text.join(', ', x)", "f.result()",
				"time.sleep(3)", "serve(timeout=5)"}},
		{"reads tensors back", ReadsBack,
			[]string{"x.item()", "float(loss)", "print(x)", `self.log("loss", loss)`, "run.log(metrics)", "writer.add_scalar(n, x)",
				"x.detach().cpu()", "self.log_dict(d)"},
			[]string{"y = torch.log(x)", "y = x.log()", "y = F.relu(x)  # .item()", `warn("call .item() later")`, "x.float()"}},
		{"collects", CollectsGarbage, []string{"gc.collect()", "collect()"},
			[]string{"batch = self.collect(x)", "recollect(x)", "rows.collect()"}},
	} {
		for _, line := range c.yes {
			if !c.says(line) {
				t.Errorf("%s: no, want yes: %s", c.what, line)
			}
		}
		for _, line := range c.no {
			if c.says(line) {
				t.Errorf("%s: yes, want no: %s", c.what, line)
			}
		}
	}
}
