package wording

// countedTexts are about lines that were counted.
var countedTexts = table{
	"counted.dear": "line {line}: about {counting} of its {time} are the counting itself ({cost} for each of {n hit}), without which it " +
		"would take {net} of the function's time",
	"counted.disagree": "line {line}: {counted} counted, {sampled} sampled; about {counting} of its {time} are the counting itself ({cost} " +
		"for each of {n hit}), without which it would take {net} of the function's time",
}
