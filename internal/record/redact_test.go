package record

import (
	"strings"
	"testing"
)

// TestRedactedNames redacts paths, functions, events and arguments in forms that a list of what must go would miss.
func TestRedactedNames(t *testing.T) {
	path := func(r *Redactor, s string) string { s, _ = r.path(s); return s }
	for _, c := range []struct {
		by       func(*Redactor, string) string
		in, want string
	}{
		{path, "/home/al ice/se(cr)et [1]/train.py", "/home/dir1/dir2/file1.py"},
		{path, "~/acme/x.py", "~/dir1/file1.py"},
		{path, "s3://bucket/acme/x.bin", "dir1/dir2/dir3/file1.bin"},
		{path, `\\server\share\x.py`, `\dir1\dir2\file1.py`},
		{path, `C:\Users\alice\x.py`, `C:\dir1\dir2\file1.py`},
		{path, "/opt/python-acme/x.py", "/opt/dir1/file1.py"},
		{path, "/opt/pythonacme/lib/python3.12/json/decoder.py", "/opt/dir1/lib/python3.12/json/decoder.py"},
		{path, "/opt/lib/python3.12/acme/decoder.py", "/opt/lib/python3.12/dir1/file1.py"},
		{path, "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py",
			"/dir1/lib/python3.12/site-packages/torch/nn/modules/linear.py"},
		{path, "/venv/lib/python3.12/site-packages/acme/secret.py", "/dir2/lib/python3.12/site-packages/dir1/file1.py"},
		{path, "/a/site-packages/torch/ac me/x.py", "/dir3/site-packages/dir1/dir2/file1.py"},
		{path, "code/acme/train.py", "dir1/dir2/file1.py"},
		{path, "multiprocessing/connection.py", "multiprocessing/connection.py"},
		{path, "multiprocessing/acme.py", "dir1/file1.py"},
		{path, "torch/nn/modules/linear.py", "torch/nn/modules/linear.py"},
		{path, "acme", "file1"},
		{path, "secrets.acme", "file1"},
		{path, "<string>", "<string>"},
		{path, "<bottleneck>/_bneck_agent/core.py", "<bottleneck>/_bneck_agent/core.py"},
		{path, "<ipython-input-1-acme>", "<text1>"},
		{path, "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/dir1/libc.so.6"},
		{path, "/opt/acme/libacme.so.6", "/opt/dir1/file1"},
		{(*Redactor).argument, "/opt/acme/python3.12", "python3.12"},
		{(*Redactor).argument, "/opt/acme/pythonacme", "argument1"},
		{(*Redactor).argument, "--lr=0.1", "argument1"},
		{(*Redactor).argument, "4711", "argument1"},
		{(*Redactor).event, "aten::addmm", "aten::addmm"},
		{(*Redactor).event, "acme::addmm", "library1::operator1_mm_add"},
		{(*Redactor).event, "void at::native::elementwise_kernel<128, 4>(int)", "void at::native::elementwise_kernel<128, 4>(int)"},
		{(*Redactor).event, "acme_sgemm_v2", "name1_gemm"},
		{(*Redactor).event, "customer 4711", "name1"},
		{(*Redactor).event, "AddmmBackward0", "AddmmBackward0"},
		{(*Redactor).event, "AcmeBackward", "name1_backward"},
		{(*Redactor).event, "autograd::engine::evaluate_function: AcmeBackward", "autograd::engine::evaluate_function: name1_backward"},
		{(*Redactor).event, "Optimizer.step#Acme.step", "Optimizer.step#name1.step"},
		{(*Redactor).event, "Optimizer.step#AdamW.step", "Optimizer.step#AdamW.step"},
		{(*Redactor).event, "nn.Module: Acme_3", "nn.Module: name1_3"},
		{(*Redactor).event, "nn.Module: Linear_3", "nn.Module: Linear_3"},
		{(*Redactor).event, "triton_poi_fused_add_acme_0", "triton_poi_fused_add_x1_0"},
		{(*Redactor).event, "a b/acme.py(3): acme.<locals>.forward", "dir1/file1.py(3): function1.<locals>.forward"},
		{(*Redactor).thread, "Thread-3 (acme)", "Thread-3 (function1)"},
		{(*Redactor).thread, "pythonacme", "thread1"},
		{(*Redactor).counter, "action_ns:[Callback]Acme.on_save", "action_ns:[Callback]name1.on_save"},
		{(*Redactor).setting, "granularity=fine,compact,1,0", "granularity=fine,compact,1,0"},
		{(*Redactor).setting, "acme", "value1"},
		{version.text, "2.4.0+cu121", "2.4.0+cu121"},
		{version.text, "2.4.0+acme", "version1"},
		{(*Redactor).system, "Linux 6.1.0-acme x86_64", "Linux 6.1.0 x86_64"},
	} {
		if got := c.by(NewRedactor(), c.in); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
}

// TestRedactEndsWithTheRows copies one row more than readers take of a file of lines, so that they say that there were more, and no others:
// redacting takes longer than reading.
func TestRedactEndsWithTheRows(t *testing.T) {
	r := NewRedactor()
	if r.rows != MaxRows+1 {
		t.Errorf("%d rows are copied, want one more than %d", r.rows, MaxRows)
	}
	r.rows = 4
	in := strings.Repeat("[\"gone\",12,34,5]\n[\"proc\",12,34,5,6,[\"python\",\"/home/ann/x.py\"],\"/home/ann/python\"]\n", 5)
	var out strings.Builder
	if err := r.document(&out, strings.NewReader(in), ruleOf(TreeName, false)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 || lines[1] != lines[3] || lines[0] != `["gone",12,34,5]` || strings.Contains(out.String(), "ann") {
		t.Errorf("%d lines, want 4: %s", len(lines), out.String())
	}
}

// TestRedactedRowsOfModels: rows about models stay, with names for what they name; equal inputs have equal names.
func TestRedactedRowsOfModels(t *testing.T) {
	in := `["asked",1,2,"#1.0 'acme'",9,14,"/home/ann/a.py",8,32,4,null,null]` + "\n" +
		`["asked",2,2,"#1.0 'acme'",9,14,"/home/ann/a.py",8,32,4,null,null]` + "\n" +
		`["unused",3,2,"AcmeNet","/home/ann/a.py",8,[[36864,2],[64,4]]]` + "\n" +
		`["denormal",4,"AcmeNet","/home/ann/a.py",8,65536,4096,500]` + "\n" +
		`["jacobian",4,5,6,1,10,3,"/home/ann/a.py",8]` + "\n"
	want := `["asked",1,2,"inputs1",9,14,"/home/dir1/file1.py",8,32,4,null,null]` + "\n" +
		`["asked",2,2,"inputs1",9,14,"/home/dir1/file1.py",8,32,4,null,null]` + "\n" +
		`["unused",3,2,"function1","/home/dir1/file1.py",8,[[36864,2],[64,4]]]` + "\n" +
		`["denormal",4,"function1","/home/dir1/file1.py",8,65536,4096,500]` + "\n" +
		`["jacobian",4,5,6,1,10,3,"/home/dir1/file1.py",8]` + "\n"
	var out strings.Builder
	if err := NewRedactor().document(&out, strings.NewReader(in), ruleOf("events.jsonl.gz", false)); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
