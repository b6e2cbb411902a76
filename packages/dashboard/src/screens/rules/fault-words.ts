type Fault = { message: string; field?: string };
/** `place` is where the field is, such as "Step 1"; null if the message names it itself. */
export type FormFault = Fault & { place: string | null };

const COUNTED: Record<string, string> = {
  steps: 'step',
  then: 'then step',
  else: 'else step',
  when: 'trigger',
};

/** Instructions for a field without a value, by the last part of its path. */
const ENTER: Record<string, string> = {
  name: 'Enter a name',
  subject: 'Write a subject',
  body: 'Write the text of the email',
  draft: 'Choose a template',
  event: 'Choose an event',
  absence_of: 'Choose at least one event',
  until: 'Choose at least one event',
  audience: 'Choose an audience',
  trait: 'Choose a trait',
  property: 'Choose a property',
  steps: 'Add a step',
};
const NO_VALUE =
  /must not be empty|is required|must be a string of 1 to|must be a UUID|must be a list of 1 to/;
const NO_SPAN = / must be a whole number and s, m, h or d/;

/**
 * Rewrites a server error in the words of the form: `steps.0.draft.subject must not be empty` is "Write a subject" at "Step 1". A value that
 * is too long or malformed keeps the words of the server, because its field is not empty.
 */
export function inWords<T extends Fault>(fault: T, document: unknown): T & FormFault {
  const { field, message } = fault;
  if (field === undefined || !message.startsWith(`${field} `)) return { ...fault, place: null };
  const parts = field.split('.');
  const words = NO_SPAN.test(message)
    ? 'Enter a whole number and choose a unit'
    : NO_VALUE.test(message) && isEmpty(valueAt(document, parts))
      ? ENTER[parts.at(-1) ?? '']
      : undefined;
  if (words !== undefined) return { ...fault, message: words, place: placeOf(parts) };
  return {
    ...fault,
    message: `${capital(pathWords(parts).join(', '))}${message.slice(field.length)}`,
    place: null,
  };
}

function valueAt(document: unknown, parts: string[]): unknown {
  let value = document;
  for (const part of parts) value = (value as Record<string, unknown> | null | undefined)?.[part];
  return value;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** "Step 1: write a subject". */
export function faultSentence({ message, place }: FormFault): string {
  return place === null ? message : `${place}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** The step, trigger or section of a field; null for a field of the rule itself. */
function placeOf(parts: string[]): string | null {
  if (parts.length === 1) return null;
  const counted: string[] = [];
  for (let at = 0; /^\d+$/.test(parts[at + 1] ?? ''); at += 2)
    counted.push(`${wordOf(parts[at] ?? '', parts[at + 1])} ${Number(parts[at + 1]) + 1}`);
  return capital(counted.length === 0 ? wordOf(parts[0] ?? '', undefined) : counted.join(', '));
}

function pathWords(parts: string[]): string[] {
  const words: string[] = [];
  for (const [at, part] of parts.entries()) {
    const next = parts[at + 1];
    const isEmail = part === 'draft' && next !== undefined;
    if (/^\d+$/.test(part)) words.push(`${words.pop() ?? 'part'} ${Number(part) + 1}`);
    else if (!isEmail) words.push(wordOf(part, next));
  }
  return words;
}

/** Only a part that is followed by a number is an item of a list. */
function wordOf(part: string, next: string | undefined): string {
  const isCounted = next !== undefined && /^\d+$/.test(next);
  return (isCounted ? COUNTED[part] : undefined) ?? part.replaceAll('_', ' ');
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
