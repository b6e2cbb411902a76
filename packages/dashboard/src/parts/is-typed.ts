/** Ignores invisible spaces at the ends. A name of only spaces has to be typed exactly. */
export function isTyped(typed: string, name: string): boolean {
  const seen = singleLine(name).trim();
  return seen === '' ? typed === singleLine(name) : typed.trim() === seen;
}

/** The name as a one-line field contains it, because such a field drops pasted line breaks. */
function singleLine(name: string): string {
  return name.replace(/[\r\n]/g, '');
}
