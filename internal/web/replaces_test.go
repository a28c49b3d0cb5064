package web_test

import (
	"bottleneck/internal/page"
	"os"
	"regexp"
	"strings"
	"testing"
)

// otherFiles are the files that docs/from-other-tools.md opens in the page, by the names that it gives them.
var otherFiles = map[string]string{
	"train.prof":    "pstats/amazon_review_train.prof",
	"trace.json.gz": "kineto-tb-resnet50/v100_workers0_memory_stack.1623143089861.pt.trace.json.gz", "ranks": "megatron-tp8-a100",
	"snapshot.pickle": "cuda-memory-snapshot/cs336_wedsonlin_512_inference.pickle",
	"stacks.json":     "speedscope/pyspy_bpe_tokenizer.speedscope.json",
}

var (
	viewCommand = regexp.MustCompile("`bottleneck view ([^`]+)`")
	viewAddress = regexp.MustCompile("`(#/[^`]+)`")
)

// TestReplacesOtherPages opens every view that docs/from-other-tools.md names in place of another tool's page, and asks that something is
// drawn there: rows, or a picture with its values.
func TestReplacesOtherPages(t *testing.T) {
	text, err := os.ReadFile("../../docs/from-other-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	opened, tools := 0, 0
	b := newTab(t)
	for line := range strings.Lines(string(text)) {
		command, addresses := viewCommand.FindStringSubmatch(line), viewAddress.FindAllStringSubmatch(line, -1)
		if command == nil || addresses == nil {
			continue
		}
		file, known := otherFiles[command[1]]
		if !known {
			t.Errorf("no file for %s", command[0])
			continue
		}
		tools++
		s, r := session(t, realTraces+file)
		server := serve(t, page.New(s, r))
		for _, address := range addresses {
			b.open(server, strings.TrimPrefix(address[1], "#/"))
			b.until(`document.querySelector(".row:not(.head)") || document.querySelector("svg[data-kind] path") || document.querySelector("canvas")?.dataset.boxes > 0 || document.querySelector(".verdict h1")`)
			if missing := eval[bool](b, `document.querySelector("main").innerText.includes("There is no view")`); missing {
				t.Errorf("%s has no %s", file, address[1])
			}
			b.picture("replaces-" + strings.NewReplacer("#/", "", "?", "-").Replace(address[1]))
			opened++
		}
	}
	if tools < 6 || opened < 16 {
		t.Errorf("only %d views of %d tools were opened", opened, tools)
	}
}
