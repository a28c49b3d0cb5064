package input

import (
	"path"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// pictures is the part of a fetch in which pictures are decoded, and made smaller right after that.
type pictures struct {
	chains         []facts.Chain
	decode, shrink float64 // weights of samples
}

// see counts one sample of the fetch.
func (p *pictures) see(cls *code.FrameClasses, id model.StackID, ch facts.Chain) {
	decodes, shrinks := false, false
	cls.Walk(id, func(fr model.FrameID) bool {
		f := &cls.Stacks.Frames[fr]
		decodes, shrinks = pictureWork(cls.Strings.Text(f.File), cls.Strings.Text(f.Function))
		return !decodes && !shrinks && cls.File(f.File) != code.FileUser
	})
	switch {
	case decodes:
		p.decode += ch.Weight
	case shrinks:
		p.shrink += ch.Weight
	default:
		return
	}
	p.chains = append(p.chains, ch)
}

// pictureWork says what a function of Pillow, torchvision or torch does with a picture.
func pictureWork(file, function string) (decodes, shrinks bool) {
	function = function[strings.LastIndexByte(function, '.')+1:]
	switch base, dir := path.Base(file), path.Base(path.Dir(file)); {
	case dir == "PIL" && (base == "ImageFile.py" || strings.HasSuffix(base, "ImagePlugin.py")):
		return true, false
	case dir == "PIL" && base == "Image.py":
		return function == "open" || function == "convert", function == "resize" || function == "thumbnail" || function == "reduce"
	case dir == "io" && base == "image.py" && strings.HasSuffix(file, "/torchvision/io/image.py"):
		return true, false
	}
	return false, function == "interpolate" && strings.HasSuffix(file, "/torch/nn/functional.py")
}

// perSample are the ns of a sample of a batch in which its picture is decoded and made smaller; 0 where that is not known.
func (v *inputView) perSample() (decode, shrink float64) {
	if v.loader == nil || v.loader.BatchSize <= 0 || v.all <= 0 || v.samples < facts.MinSamples {
		return 0, 0
	}
	sample := v.fetch / float64(v.loader.BatchSize) / v.all
	return v.pictures.decode * sample, v.pictures.shrink * sample
}

// shrinks says that a good part of the fetch makes large pictures small ones, sample by sample, so that files of small ones end most of it.
func (v *inputView) shrinks() bool {
	_, shrink := v.perSample()
	return shrink > 0 && v.pictures.shrink >= price.PictureShrunk*v.all && v.smaller().Mid >= price.HotFetch
}

// smaller is the share of the fetch that files of small pictures end.
func (v *inputView) smaller() finding.Range {
	decode, shrink := v.perSample()
	takes := decode + shrink
	if takes <= 0 || v.fetch <= 0 {
		return finding.Range{}
	}
	left, part := price.SmallPicture.Bounds(), (v.pictures.decode+v.pictures.shrink)/v.all
	ended := func(left float64) float64 { return part * max(takes-left, 0) / takes }
	return finding.Bounds(ended(left.High), ended(left.Mid), ended(left.Low))
}

// keepSmaller says how pictures are made smaller once.
func (v *inputView) keepSmaller(c *facts.Facts, f *finding.Finding) {
	decode, shrink := v.perSample()
	f.Title = wording.Say("input.title-pictures", wording.Share("share", f.Share), c.Said())
	f.Evidence = append(f.Evidence, wording.Say("input.pictures", wording.Time("decode", decode), wording.Time("shrink", shrink)))
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-pictures")}
}
