package wording

// paddingTexts are about sequences that are filled up to a common length.
var paddingTexts = table{
	"padding.title":         "{share} of {each} computes on padding",
	"padding.title-unread":  "{share} of {each} computes a layer's answers at places that nothing reads",
	"padding.unread":        "{time} per {unit}; of {places place} of the answer the next operator takes {read}, and no other reads it",
	"padding.fix-unread":    "Choose the places before the layer: head(hidden[:, -1]) is what head(hidden)[:, -1] is, without the other places.",
	"padding.caveat-unread": "Looked at were operators of traced steps: what reads the whole answer elsewhere needs it.",
	"padding.filling":       "{share} of the places in a batch are filling, by {batches} batches that were looked at",
	"padding.lengths":       "on average a sequence has {mean} places, the longest one of its batch {longest}, and the batch {width}",
	"padding.fix-own": "Fill each batch up to its own longest sequence, in the DataLoader's collate_fn (pad_sequence; of Hugging Face: " +
		"DataCollatorWithPadding, and no padding=\"max_length\" before it).",
	"padding.fix-group-too": "Put sequences of similar length into one batch, too: a batch_sampler that sorts by length (Hugging Face's " +
		"Trainer: group_by_length=True).",
	"padding.fix-group": "Batches are filled up to their longest sequence already: put sequences of similar length into one batch, by a " +
		"batch_sampler that sorts by length (Hugging Face's Trainer: group_by_length=True), or pack several into one row.",
	"padding.fix-own-call": "Fill each batch up to its own longest sequence (pad_sequence over the batch alone; of Hugging Face: call the " +
		"tokenizer for each batch, with padding=True and not \"max_length\").",
	"padding.fix-group-call": "Put sequences of similar length into one batch: sort them by length before they are cut into batches, and put " +
		"what comes out back in order.",
	"padding.caveat": "Batches of similar lengths are drawn less at random: shuffle within groups of some hundred batches. Kernels that skip " +
		"filling, in a library that is not PyTorch's, would make this untrue.",
}
