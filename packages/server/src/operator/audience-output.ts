import type { ListedAudience, ShownAudience } from '../features/audiences/index.ts';
import { table } from './table.ts';

export function toListed(audience: ListedAudience) {
  const { id, name, state, members, progress, sentence, createdAt, updatedAt } = audience;
  return { id, name, state, members, progress, sentence, created_at: createdAt, updated_at: updatedAt };
}

export function toShown(audience: ShownAudience) {
  const { definition, growth, sample } = audience;
  return { ...toListed(audience), definition, growth, sample };
}

export function describeAudience(audience: ReturnType<typeof toShown>): string {
  const { id, name, members, progress, sentence, definition, growth, sample, state } = audience;
  const built = progress ? `: ${progress.built} of ${progress.users} people done` : '';
  return [
    table([{ id, name, state: `${state}${built}`, members }], ''),
    `Who is meant: ${printable(sentence)}`,
    printable(JSON.stringify(definition, null, 2)),
    table(growth, 'It has no days yet'),
    table(sample, 'Nobody is in it'),
  ].join('\n\n');
}

export function describePreview(preview: {
  count: number;
  sample: { external_user_id: string }[];
  sentence: string;
  uncounted_events: string[];
}): string {
  const { count, sample, sentence, uncounted_events: uncounted } = preview;
  const head = `${count} ${count === 1 ? 'person' : 'people'}: ${printable(sentence)}`;
  const names = uncounted.map((name) => JSON.stringify(name)).join(', ');
  const note = `Nobody asked about all occurrences of ${names} before: they are counted once an audience does`;
  const parts = [head, ...(uncounted.length > 0 ? [printable(note)] : [])];
  return [...parts, table(sample, 'Nobody is meant')].join('\n\n');
}

/** What a stranger wrote could otherwise move the cursor of the terminal that shows it; line ends are ours. */
export function printable(text: string): string {
  return text.replaceAll(/(?!\n)\p{Cc}/gu, '\u{FFFD}');
}
