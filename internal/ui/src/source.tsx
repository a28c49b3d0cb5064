// Program texts with the sampled time of each line.

import { useEffect, useRef } from "preact/hooks";
import { Address, refine } from "./address";
import { base, milliseconds, percent } from "./format";
import { Part } from "./part";
import { Source, Sources } from "./payload";

export function SourceView({ sources, address }: { sources: Sources; address: Address }) {
  const file = sources.files.find((f) => f.path === address.args.file) ?? (address.args.file ? undefined : sources.files[0]);
  return (
    <div class="view">
      <header class="tools">
        <h1>Source</h1>
        <label>
          file{" "}
          <select value={file?.path ?? ""} onChange={(e) => refine({ file: e.currentTarget.value, line: "" })}>
            {!file && <option value="">not in the session</option>}
            {sources.files.map((f) => (
              <option value={f.path}>
                {f.path} ({milliseconds(f.own_us / 1e3)})
              </option>
            ))}
          </select>
        </label>
      </header>
      <p class="aside">time of all processes and threads by samples; own time of your lines includes the library code that they called</p>
      {file ? (
        <Part name={file.part}>{(s: Source) => <Text source={s} line={Number(address.args.line || 0)} />}</Part>
      ) : (
        <p class="message">The session does not hold the text of {address.args.file}.</p>
      )}
    </div>
  );
}

/** The same beside a picture. */
export function SourcePane({ file, line }: { file: string; line: number }) {
  return (
    <Part name="sources">
      {(all: Sources) => {
        const found = all.files.find((f) => f.path === file);
        return found ? (
          <aside class="pane" aria-label="source">
            <p class="aside" title={file}>{base(file)}</p>
            <Part name={found.part}>{(s: Source) => <Text source={s} line={line} />}</Part>
          </aside>
        ) : null;
      }}
    </Part>
  );
}

function Text({ source, line }: { source: Source; line: number }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const target = line || source.own_us.indexOf(Math.max(...source.own_us)) + 1;
    box.current?.querySelector(`[data-line="${target}"]`)?.scrollIntoView({ block: "center" });
  }, [source, line]);
  const most = Math.max(...source.total_us, 1e-9);
  return (
    <div class="text" ref={box} tabIndex={0} role="region" aria-label={source.path}>
      <table>
        <thead>
          <tr>
            <th>own</th>
            <th>total</th>
            <th>share</th>
            <th>line</th>
            <th class="code">text</th>
          </tr>
        </thead>
        <tbody>
          {source.lines.map((text, i) => (
            <tr data-line={i + 1} class={i + 1 === line ? "here" : ""}>
              <td>{source.own_us[i] > 0 ? milliseconds(source.own_us[i] / 1e3) : ""}</td>
              <td>{source.total_us[i] > 0 ? milliseconds(source.total_us[i] / 1e3) : ""}</td>
              <td class="heat">
                {source.total_us[i] > 0 && (
                  <>
                    <i style={{ width: `${(source.total_us[i] / most) * 100}%` }} />
                    <b>{percent(source.total_us[i] / most)}</b>
                  </>
                )}
              </td>
              <td class="lineno">{i + 1}</td>
              <td class="code">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
