// Made from the types of package page by its TestPayload: go test ./internal/page -run Payload -update

export interface Account {
  unit: string;
  kind?: string;
  total_ms: number;
  process: string;
  rank?: number;
  basis: string;
  steps: number;
  samples: number;
  notes: string[];
}

export interface Action {
  kind: string;
  call?: string;
  arguments?: Argument[];
  variable?: string;
  value?: string;
  line?: string;
  before?: string;
  saving?: Saved;
}

export interface Answer {
  document: WhatIf | null;
  sentence: string;
  chart: Chart;
}

export interface Argument {
  name?: string;
  value: string;
}

export interface Arrow {
  box: number;
  to: string;
  lane: number;
  row: number;
  start_us: number;
  us: number;
}

export interface Axis {
  head: string;
  unit: string;
  log?: boolean;
}

export interface Card {
  cause: string;
  title: string;
  share: number;
  of: string;
  where: Where;
  saving?: Saving;
  evidence: string[];
  because?: string;
  because_where?: Where;
  fix: Fix;
  caveat?: string;
  basis?: string;
  show: Link[];
}

export interface Chart {
  title: string;
  aside?: string;
  kind: string;
  x: Axis;
  y: Axis;
  rows: string[];
  series: Series[];
}

export interface Column {
  head: string;
  unit: string;
  texts?: string[];
  values?: (number | null)[];
  bar?: boolean;
  sum?: boolean;
  find?: boolean;
}

export interface Confidence {
  level: string;
  why: string;
  saving?: Confidence;
}

export interface Critical {
  kinds: string[];
  lane: number[];
  row: number[];
  start_us: number[];
  us: number[];
  kind: number[];
  total_us: number;
}

export interface Fix {
  text: string;
  ids?: string[];
  change?: string;
  was?: string;
  where?: Place;
  action?: Action;
}

export interface Flame {
  title: string;
  unit: string;
  aside: string;
  names: string[];
  places: string[];
  frame: number[];
  parent: number[];
  depth: number[];
  start_us: number[];
  total_us: number[];
  self_us: number[];
  small_us: number;
  before_us?: number[];
}

export interface Found {
  count: number;
  total_us: number;
  longest: Spot[];
}

export interface Lane {
  group: string;
  name: string;
  kind: string;
  rows: number;
}

export interface Link {
  text: string;
  view: string;
  find?: string;
  file?: string;
  line?: number;
  from_us?: number;
  to_us?: number;
}

export interface Mark {
  name: string;
  start_us: number;
  us: number;
}

export interface Measured {
  tolerance: number;
  prices: MeasuredPrice[];
  ops: MeasuredOp[];
}

export interface MeasuredFix {
  fix: string;
  us: number;
}

export interface MeasuredOp {
  op: string;
  shapes: string;
  per_step: number;
  recorded_us: number;
  repeated_us?: number;
  reproduced: boolean;
  why?: string;
  fixes: MeasuredFix[];
}

export interface MeasuredPrice {
  fix: string;
  saved_ms: number;
  of_ms: number;
  ops: number;
}

export interface Panels {
  title: string;
  aside?: string;
  charts: Chart[];
  tables: string[];
}

export interface Part {
  part: string;
  ms: number;
  share: number;
  basis?: string;
  of?: Part[];
}

export interface Place {
  file: string;
  line: number;
}

export interface Range {
  low: number;
  mid: number;
  high: number;
}

export interface Run {
  name: string;
  title?: string;
  begun_unix_ns?: number;
  read: boolean;
  verdict?: string;
  bound?: string;
  level?: string;
  step_ms?: number;
  problem?: string;
}

export interface Saved {
  run_s?: Range;
  step_ms?: Range;
}

export interface Saving {
  low: number;
  mid: number;
  high: number;
  whole_ms: number;
  of: string;
  text: string;
  after?: string;
}

export interface Series {
  name: string;
  line?: boolean;
  x: number[];
  y: (number | null)[];
  row?: number[];
  width?: number[];
  texts?: string[];
  from_us?: number[];
  to_us?: number[];
}

export interface Shared {
  call: number[];
  lane: number[];
  row: number[];
  start_us: number[];
  us: number[];
  wait_us: number[];
}

export interface SoFar {
  steps: number;
  step_ms?: number;
  wait_ms?: number;
}

export interface Source {
  path: string;
  lines: string[];
  own_us: number[];
  total_us: number[];
}

export interface SourceFile {
  path: string;
  part: string;
  own_us: number;
}

export interface Sources {
  files: SourceFile[];
}

export interface Spot {
  lane: number;
  row: number;
  start_us: number;
  us: number;
  name: string;
}

export interface Summary {
  schema: string;
  tool: string;
  title: string;
  growing: boolean;
  verdict: Verdict;
  account?: Account;
  breakdown: Part[];
  findings: Card[];
  notes: string[];
  next: string[];
  views: View[];
  so_far?: SoFar;
  command: string;
  generation: number;
  problem?: string;
  runs?: Run[];
  in_list?: boolean;
}

export interface Switch {
  key: string;
  text: string;
  group: string;
}

export interface Switches {
  basis: string;
  note?: string;
  switches: Switch[];
}

export interface Table {
  name: string;
  title: string;
  group: string;
  aside?: string;
  columns: Column[];
  rows: number;
  sort: number;
}

export interface Tile {
  complete: boolean;
  names: string[];
  lane: number[];
  row: number[];
  start_us: number[];
  us: number[];
  name: number[];
  count: number[];
  busy_us: number[];
  arrows: Arrow[];
}

export interface Timeline {
  span_us: number;
  levels: number;
  lanes: Lane[];
  steps: Mark[];
  events: number;
  path: boolean;
  shared: boolean;
}

export interface Verdict {
  bound: string;
  sentence: string;
  confidence: Confidence;
}

export interface View {
  id: string;
  kind: string;
  title: string;
  group: string;
  part: string;
  rows: number;
  within?: string;
}

export interface WhatIf {
  schema: string;
  tool?: string;
  question: string;
  basis: string;
  unit: string;
  steps: number;
  rank?: number;
  ranks: number;
  coverage: number;
  before_ms: number;
  after_ms: number;
  saved_ms: number;
  saved_share: number;
  named_ms: number;
  replay_error: number;
  slack: number;
  parts: WhatIfPart[];
  notes: string[];
  measured?: Measured;
}

export interface WhatIfPart {
  part: string;
  of?: string;
  before_ms: number;
  after_ms: number;
}

export interface Where {
  file?: string;
  line?: number;
  function?: string;
  source?: string;
  op?: string;
  kernel?: string;
  module?: string;
  rank?: number;
  thread?: number;
  process?: string;
}

