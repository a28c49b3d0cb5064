package ingest

import (
	"math"
	"strconv"
	"strings"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// laneKey names a lane. A GPU's ordinal can equal a process id (in containers the program is process 1), so the kind is
// part of it.
type laneKey struct {
	pid, tid kineto.ID
	kind     model.LaneKind
}

type laneInfo struct {
	key    laneKey
	events int
	from   int // first row in the final columns
}

// laneTable finds lanes by row.
type laneTable struct {
	list  []laneInfo
	index map[laneKey]model.LaneID
	last  [4]model.LaneID // by kind
	names map[laneKey]kineto.Text
	over  int64
}

// maxLanes bounds the lanes of one file; rows beyond share the last one.
const maxLanes = 1 << 20

func newLaneTable() laneTable {
	t := laneTable{index: map[laneKey]model.LaneID{}, names: map[laneKey]kineto.Text{}}
	for i := range t.last {
		t.last[i] = model.NoLane
	}
	return t
}

func (t *laneTable) find(pid, tid kineto.ID, kind model.LaneKind) model.LaneID {
	if id := t.last[kind]; id >= 0 {
		if last := &t.list[id].key; last.tid.Num == tid.Num && last.pid.Num == pid.Num && last.tid.Text == tid.Text &&
			last.pid.Text == pid.Text && last.tid.Set == tid.Set && last.pid.Set == pid.Set {
			return id
		}
	}
	key := laneKey{pid, tid, kind}
	id, ok := t.index[key]
	if !ok {
		if len(t.list) >= maxLanes {
			t.over++
			return model.LaneID(len(t.list) - 1)
		}
		id = model.LaneID(len(t.list))
		t.list = append(t.list, laneInfo{key: key})
		t.index[key] = id
	}
	t.last[kind] = id
	return id
}

// metadata keeps names of threads and streams.
func (b *builder) metadata(e *kineto.Event) {
	name := e.Text(kineto.ArgName)
	if name == 0 || b.scan.Names.String(e.Name) != "thread_name" || len(b.lanes.names) >= maxLanes {
		return
	}
	kind := model.LaneThread
	if strings.HasPrefix(b.scan.Names.String(name), "stream ") {
		kind = model.LaneStream
	}
	b.lanes.names[laneKey{e.PID, e.TID, kind}] = name
}

// build makes the model's lanes.
func (t *laneTable) build(texts *textMap) []model.Lane {
	lanes := make([]model.Lane, len(t.list))
	for i := range t.list {
		info := &t.list[i]
		lane := model.Lane{Kind: info.key.kind, Device: -1,
			PID: texts.id(info.key.pid), TID: texts.id(info.key.tid), Name: texts.name(t.names[info.key]),
			Thread: numOr(info.key.tid, 0)}
		if info.key.kind == model.LaneStream {
			lane.Thread = 0
			lane.Device = clamp32(numOr(info.key.pid, -1))
			lane.Stream = streamNumber(info.key.tid, texts)
		}
		lanes[i] = lane
	}
	return lanes
}

func clamp32(v int64) int32 { return int32(max(min(v, math.MaxInt32), math.MinInt32)) }

// streamNumber reads "7" and the old form "stream 7".
func streamNumber(tid kineto.ID, texts *textMap) int64 {
	if tid.Text == 0 {
		return tid.Num
	}
	text := strings.TrimPrefix(texts.scan.Names.String(tid.Text), "stream ")
	text, _, _ = strings.Cut(text, " ")
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		return v
	}
	return -1
}
