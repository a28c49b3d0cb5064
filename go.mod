module bottleneck

go 1.26
