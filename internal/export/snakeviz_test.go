package export

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestSnakevizShowsThePstatsFile has snakeviz's own server, on an address of this machine only, answer for the file that pstats
// writes of a trace with stacks: the page holds every function with its callees.
func TestSnakevizShowsThePstatsFile(t *testing.T) {
	if testing.Short() {
		t.Skip("installs snakeviz")
	}
	out, err := exec.Command("../../scripts/env.sh", "snakeviz").Output()
	if err != nil {
		t.Skipf("scripts/env.sh snakeviz: %v", err)
	}
	s := &model.Session{Strings: &model.Strings{}}
	if !readInto(s, "../../testdata/torchtable/stacks.trace.json.gz") {
		t.Fatal("the trace with stacks cannot be read")
	}
	pstats, err := Find("pstats")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "train of today.prof")
	if err := WriteFile(context.Background(), s, pstats, file, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	const program = `
import asyncio, pstats, sys, urllib.parse
import tornado.httpclient, tornado.httpserver, tornado.netutil
from snakeviz.main import app
async def fetch():
    server = tornado.httpserver.HTTPServer(app)
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    url = "http://127.0.0.1:%d/snakeviz/%s" % (sockets[0].getsockname()[1], urllib.parse.quote(sys.argv[1], safe=""))
    answer = await tornado.httpclient.AsyncHTTPClient().fetch(url)
    server.stop()
    return answer.body.decode()
page = asyncio.run(fetch())
names = [function for _, _, function in pstats.Stats(sys.argv[1]).stats if function.isidentifier()]
print(len(names), [name for name in names if page.count("(%s)" % name) < 2])
`
	answer, err := exec.Command(strings.TrimSpace(string(out)), "-c", program, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, answer)
	}
	count, missing, _ := strings.Cut(strings.TrimSpace(string(answer)), " ")
	if missing != "[]" || len(count) < 2 {
		t.Errorf("of %s functions the page lacks %s", count, missing)
	}
}
