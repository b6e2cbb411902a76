type Fault = { message: string; field?: string };

const COUNTED: Record<string, string> = {
  steps: 'step',
  then: 'then step',
  else: 'else step',
  when: 'trigger',
};

/** `steps.0.draft.subject must not be empty` in the words of the form: `Step 1, subject must not be empty`. */
export function inWords<T extends Fault>(fault: T): T {
  const { field, message } = fault;
  if (field === undefined || !message.startsWith(`${field} `)) return fault;
  return { ...fault, message: `${pathWords(field.split('.'))}${message.slice(field.length)}` };
}

function pathWords(parts: string[]): string {
  const words: string[] = [];
  for (const [at, part] of parts.entries()) {
    const next = parts[at + 1];
    const isEmail = part === 'draft' && next !== undefined;
    if (/^\d+$/.test(part)) words.push(`${words.pop() ?? 'part'} ${Number(part) + 1}`);
    else if (!isEmail) words.push(wordOf(part, next));
  }
  const text = words.join(', ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Only a part that is followed by a number is an item of a list. */
function wordOf(part: string, next: string | undefined): string {
  const isCounted = next !== undefined && /^\d+$/.test(next);
  return (isCounted ? COUNTED[part] : undefined) ?? part.replaceAll('_', ' ');
}
