/** Blanks at the ends are seen by nobody: with them or without, it is the name. Of a name that is nothing else, all are typed. */
export function isTyped(typed: string, name: string): boolean {
  const seen = oneLine(name).trim();
  return seen === '' ? typed === oneLine(name) : typed.trim() === seen;
}

/** As a field of one line holds it: line breaks cannot be typed, and what is pasted loses them. */
function oneLine(name: string): string {
  return name.replace(/[\r\n]/g, '');
}
