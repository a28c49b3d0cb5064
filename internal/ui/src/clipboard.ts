// Taking something along: the clipboard, or a file.

/** Copies a text; false where the browser forbids it, as on plain http from another machine. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const e = document.createElement("textarea");
    e.value = text;
    document.body.append(e);
    e.select();
    const copied = document.execCommand("copy");
    e.remove();
    return copied;
  }
}

/** Offers a file for saving. */
export function save(name: string, type: string, content: BlobPart): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([content], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
