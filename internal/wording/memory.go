package wording

// memoryTexts are about operators that move data.
var memoryTexts = table{
	"memory.traced":              "{share} of the devices' time is spent in element-wise kernels that move data and compute little",
	"memory.kernels":             "{time} in {n element-wise kernel} of {mean} on average",
	"memory.most-called-by":      "most in {kernel}, called by {op}",
	"memory.most-called-by-none": "most in {kernel}, called by no operator",
	"memory.caveat-compile": "torch.compile takes time at the start: 3 to 25 s were measured on a CPU. That is taken off what this run would " +
		"save; a longer one saves the same a step.",
	"memory.fix-compile": "Let torch.compile fuse the chain: the data then moves once. Use operators that are fused already (attention, " +
		"normalisation, optimizers with fused=True).",
	"memory.fix-compile-rest": "Compile the functions that call these kernels as well, or mend what breaks the compiled graph there " +
		"(TORCH_LOGS=graph_breaks lists it). torch.compile already fuses other parts of the program.",
	"memory.caveat-bytes": "The saving's bounds are {low} to {high} of these kernels' time, from experience: the trace does not say how " +
		"many bytes they move. How much a chain gains depends on how many operators of it become one.",
	"memory.chain":             "{share} of {each} is element-wise work that moves data and computes little",
	"memory.outside-optimizer": "{time} per {unit} in element-wise operators outside of the optimizer",
	"memory.in-optimizer":      "{time} per {unit} in the optimizer, operator by operator over all parameters",
	"memory.fix-fuse-compiled": "Write the chain with fewer temporaries (in place, addcmul, lerp), and compute what is the same in every " +
		"step once, before them. The program compiles, but not this chain: TORCH_LOGS=graph_breaks says what keeps it out.",
	"memory.fix-fuse": "Let torch.compile fuse the chain: the data then moves once. Or write it with fewer temporaries (in place, " +
		"addcmul, lerp). Compute what is the same in every step once, before them.",
	"memory.fix-fused-optimizer": "Let the optimizer go over its parameters once: fused=True where it is built. Where most gradients are " +
		"zero (embeddings), sparse gradients with SparseAdam touch only the rows in use.",
	"memory.fix-own-optimizer": "Go over the parameters once: an optimizer of torch.optim with fused=True in place of this one, or " +
		"torch.compile around its update. Operators that work in place (addcdiv_, lerp_) save the temporaries.",
	"memory.caveat-experience": "How much fusing gains is a range from experience, not from a measurement of this program: try it.",
	"memory.title-one-hot":     "{share} of {each} multiplies a matrix by one-hot vectors",
	"memory.one-hot":           "{time} per {unit}; up to {rows row} of {classes number} at once, all of which but one are zero",
	"memory.fix-one-hot": "Look the rows up: nn.Embedding(classes, width) on the indices gives what nn.Linear(classes, width, bias=False) " +
		"gives on one-hot vectors.",
	"memory.caveat-one-hot": "Its weight is stored the other way round: embedding.weight is linear.weight.t(), and starts from other random " +
		"numbers. A layer's bias is added afterwards.",
	"memory.title-pairs": "{share} of {each} is spent on differences of all pairs of points",
	"memory.pairs":       "{time} per {unit}; up to {pairs pair} of {width number}, each of which is written, squared and read again",
	"memory.fix-pairs": "Compute squared distances by one product of matrices: (x * x).sum(-1, keepdim=True) + (y * y).sum(-1) - 2 * x @ y.T " +
		"needs no table of differences. Where roots are wanted and nothing learns, torch.cdist(x, y) does it in one call.",
	"memory.caveat-pairs":   "Rounding is coarser for points that are close to each other: clamp(min=0) before a root.",
	"memory.title-few-rows": "{share} of {each} copies tensors of which few rows are used",
	"memory.few-rows":       "{time} per {unit}; up to {rows row} are copied and {taken} of them taken",
	"memory.title-products": "{share} of {each} multiplies all pairs by broadcasting",
	"memory.products":       "{time} per {unit}; up to {pairs pair} of {width number} each are written out",
	"memory.fix-products":   "Multiply matrices: a @ b.T, or torch.einsum, for (a[:, None] * b[None]).sum(-1).",
	"memory.fix-cosines":    "Normalise both first, then multiply matrices: F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T.",
	"memory.title-unfolded": "{share} of {each} makes a table of all windows of pictures for a product with the same weights",
	"memory.unfolded":       "{time} per {unit} in such tables and products, forward and backward; each number is copied up to {times time}",
	"memory.fix-unfolded": "Let a convolution do it, which writes out no table: F.conv2d(x, weight.view(out, channels, rows, columns), bias, " +
		"stride, padding) for weight @ F.unfold(x, (rows, columns)).",
	"memory.title-long-filter": "{share} of {each} applies a filter of many taps to signals place by place",
	"memory.long-filter":       "{time} per {unit} in convolutions with filters of up to {taps tap}, along {length number}",
	"memory.fix-long-filter": "Multiply spectra: with n a length of small prime factors, not shorter than the signal, torch.fft.irfft(" +
		"torch.fft.rfft(x, n) * torch.fft.rfft(taps, n).conj(), n)[..., :x.shape[-1] - len(taps) + 1] is what conv1d gives. " +
		"torchaudio.functional.fftconvolve does it, with the taps turned round.",
	"memory.caveat-long-filter": "Rounding differs in the last digits.",
	"memory.fix-cosines-many": "Normalise what stays the same once, before the loop: known = F.normalize(b, dim=-1). Then " +
		"F.normalize(a, dim=-1) @ known.T gives the cosines, for several rows of a at once.",
	"memory.title-contraction": "{share} of {each} multiplies tensors by broadcasting and sums the products",
	"memory.contraction":       "{time} per {unit}; up to {numbers number} are written out, {times time} as many as the largest tensor has",
	"memory.fix-contraction": "Let matrix products do it, which write out no table: torch.einsum(\"bi,ijk,bj->bk\", a, w, b), or F.bilinear, " +
		"for (a[:, :, None, None] * w * b[:, None, :, None]).sum((1, 2)); torch.bmm for (w[:, :, None] * x).sum(1).",
	"memory.title-heads": "{share} of {each} copies keys and values for heads that share them",
	"memory.heads":       "{time} per {unit}; each key and value is copied {times time}",
	"memory.fix-heads": "Hand keys and values over as they are: scaled_dot_product_attention(q, k, v, enable_gqa=True) shares them among " +
		"the heads of queries.",
	"memory.fix-heads-rows": "For one token at a time, queries of the heads that share a key can also be rows of one head: " +
		"q.reshape(batch, kv_heads, group, head_dim).",
	"memory.title-diagonal": "{share} of {each} computes tables of all pairs of which only the diagonal is used",
	"memory.diagonal":       "{time} per {unit} in products that make such tables, of up to {rows row}, and in what is computed of these",
	"memory.fix-diagonal": "Compute the diagonal alone: (a * b).sum(-1) for (a @ b.T).diagonal(), (a * b.T).sum() for torch.trace(a @ b); " +
		"of a kernel or a covariance what it gives for each point and itself.",
	"memory.title-computed-rows": "{share} of {each} computes rows of which few are used",
	"memory.computed-rows":       "{time} per {unit}; up to {rows row} are computed and {taken} of them taken",
	"memory.fix-computed-rows":   "Take the rows first, and compute only these: layer(table[index]) for layer(table)[index].",
	"memory.caveat-computed-rows": "This holds where no layer mixes rows, as batch normalisation in training does, and where nobody keeps " +
		"the other rows for later.",
	"memory.fix-few-rows": "Take the rows first, and copy or convert only these: torch.as_tensor(array[index]) for torch.tensor(array)[index], " +
		"table[order[i:j]] for table[order][i:j]. Or make the tensor once, before the loop.",
	"memory.title-sorted": "{share} of {each} sorts tensors of which few places are used",
	"memory.sorted":       "{time} per {unit}; up to {places place} are sorted and {taken} of them taken",
	"memory.fix-sorted": "Have topk find these alone: scores.topk(k).indices for scores.argsort(descending=True)[..., :k] (largest=False for " +
		"the smallest).",
	"memory.caveat-sorted": "Of equal numbers topk may take others.",
	"memory.title-zeros":   "{share} of {each} multiplies with a matrix that is nearly all zeros",
	"memory.zeros": "{time} per {unit} in products with a matrix of {rows} × {columns}, forward and backward; at most a tenth of what was read " +
		"of it is not zero",
	"memory.fix-zeros": "Keep only what is not zero: matrix = matrix.to_sparse_csr() once, where it is made; matrix @ x stays as it is. " +
		"For a graph, hand on its edges (index_add, or a library's layers) in place of its matrix.",
	"memory.title-zeros-dropped": "{share} of {each} goes over a matrix that is nearly all zeros",
	"memory.zeros-dropped": "{time} per {unit} in products with a matrix of {rows} × {columns}, forward and backward, and in dropout, which " +
		"draws a random number for each of its zeros; at most a tenth of what was read of it is not zero",
	"memory.fix-zeros-dropped": "Drop of its values only: torch.sparse_csr_tensor(m.crow_indices(), m.col_indices(), " +
		"F.dropout(m.values(), p, training), m.shape).",
	"memory.caveat-zeros": "A part of the matrix was read. Sparse products gain where less than about one number in twenty is not zero, and " +
		"not all operators take such a matrix.",
	"memory.title-order": "{share} of {each} is spent on two products of matrices whose other order takes far fewer multiplications",
	"memory.order": "{time} per {unit} in both, forward and backward; between them stands a matrix of {rows} × {columns}, and the other order " +
		"takes {left} of the multiplications",
	"memory.fix-order": "Multiply in the other order: (A @ B) @ C is A @ (B @ C). With einsum, name what is multiplied first; attention " +
		"without softmax is q @ (k.transpose(-2, -1) @ v).",
	"memory.caveat-order":     "This holds where nothing else needs the matrix between the two. Rounding differs in the last digits.",
	"memory.title-fft-length": "{share} of {each} is spent on Fourier transforms whose length has a large prime factor",
	"memory.fft-length": "{time} per {unit} in them, forward and backward; of the largest the length is {length}, whose largest prime " +
		"factor is {prime}; {longer} factors into 2, 3, 5 and 7",
	"memory.fix-fft-length": "Pad the signal to the next length that factors into 2, 3, 5 and 7, a multiple of four, and cut the result: " +
		"torch.fft.rfft(x, n={longer}) in place of {length}, and torch.fft.irfft(…, n={longer})[..., :{length}]. All transforms " +
		"that belong together take the same n.",
	"memory.caveat-fft-length": "A longer spectrum has other frequencies. Convolutions that do not wrap around stay what they are; " +
		"spectra that are read, and convolutions that wrap around, do not.",
	"memory.title-separable": "{share} of {each} is spent on filters with large windows that two passes may replace",
	"memory.separable": "{time} per {unit} of convolutions with a window for each channel, forward and backward, that go; the largest has " +
		"{rows} × {columns} places, for {channels channel}",
	"memory.fix-separable": "Filter along the rows, then along the columns: conv2d with g[:, None], then with g[None, :], where the window is " +
		"torch.outer(g, g). Where a library makes the window, such as torchvision's gaussian_blur, two calls with (k, 1) and (1, k) do.",
	"memory.caveat-separable": "This holds for windows that are a column times a row, as those of Gaussian and box filters and of SSIM " +
		"are; the trace does not say which this one is. Rounding differs in the last digits.",
	"memory.title-suppression": "{share} of {each} suppresses boxes that overlap better ones",
	"memory.suppression":       "{time} per {unit} in non-maximum suppression, whose time grows with the square of the boxes that it is given",
	"memory.fix-suppression": "Leave out the boxes that no one keeps before it: those below the least score, and all but the best thousand " +
		"(scores.topk). Then call nms on the rest.",
	"memory.caveat-suppression": "A metric that goes down to the least scores needs these boxes. How many there are is not known: where only " +
		"likely ones are handed over already, little is saved.",
	"memory.title-regrown": "{share} of {each} copies all rows of a tensor that grows, for each few that are appended",
	"memory.regrown": "{time} per {unit} of concatenations copy what was there; the longest has {rows row} and gets {more} more, and nothing " +
		"reads it in between",
	"memory.fix-regrown": "Append the parts to a list, and concatenate them once, where all of them are needed: torch.cat(parts). What is only " +
		"counted or averaged needs no rows: keep the sums.",
	"memory.fix-regrown-metrics": "The trainer gathers all that the model answers, for compute_metrics. Give it what these need alone: " +
		"preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(dim=-1), and take the predictions there.",
	"memory.caveat-regrown": "This holds where nothing needs the whole tensor before its last row is there.",
	"memory.tables":         "{share} of {each} is spent on whole embedding tables of which few rows are used",
	"memory.table-time":     "{time} per {unit}: {backward} for gradients of all rows, {optimizer} for the optimizer on them",
	"memory.table-rows": "the costliest table has {rows row} of {width number}, and a {unit} looks up " +
		"{lookups} of them at most ({share})",
	"memory.fix-sparse": "Build the table with sparse=True: its gradient holds the rows in use, and the optimizer changes these alone. " +
		"SGD and Adagrad take such gradients; in place of Adam, give the tables' parameters to torch.optim.SparseAdam and the others to " +
		"Adam.",
	"memory.fix-built-at":      "Tables are built at {places}.",
	"memory.attention":         "{share} of {each} is attention that is written out operator by operator",
	"memory.attention-matrix":  "{time} per {unit}; each of the {calls attention} in traced steps makes a matrix of weights",
	"memory.attention-pages":   "{time} per {unit} of it in the kernel, for pages of memory that it is given anew",
	"memory.traced-attention":  "{share} of the devices' time is spent between the products of attention that is written out operator by operator",
	"memory.attention-kernels": "{time} in {kernels kernel} of {written attention}, its matrix products left out",
	"memory.attention-largest": "the largest matrix of weights has {elements number}",
	"memory.fix-attention": "Call torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…, is_causal=…): it computes the same " +
		"without the matrix of weights in memory. Models of transformers do with attn_implementation=\"sdpa\".",
	"memory.fix-attention-weights": "Call nn.MultiheadAttention with need_weights=False where its weights are not used: it then computes " +
		"attention in one call.",
	"memory.caveat-attention":         "Weights that are read afterwards, and changes of them that are neither a mask nor a bias, need the written form.",
	"memory.caveat-attention-dropout": "While weights are dropped, PyTorch computes the one call on a CPU in steps as well, and little is saved.",
	"memory.caveat-tables": "A row's moments then change only in the steps that use it: training differs a little. Weight decay, " +
		"momentum and clip_grad_norm_ on the tables need dense gradients. What a row in use costs with a sparse gradient is an estimate " +
		"from other programs.",
}
