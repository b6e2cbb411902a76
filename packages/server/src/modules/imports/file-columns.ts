import type { ImportMapping } from '@beckon/contract/dashboard';
import {
  type FieldName,
  type FileColumn,
  type FileKind,
  type Target,
  targetOf,
  targetsOf,
} from '@beckon/contract/files';

/** Returns the target of each column in order: by the mapping and otherwise by the header. */
export function columnsOf(
  kind: FileKind,
  names: readonly string[],
  mapping: ImportMapping | null,
): FileColumn[] {
  const mappings = new Map(Object.entries(mapping?.columns ?? {}));
  const targetOfName = new Map<string, Target>();
  for (const [name, { to }] of mappings)
    targetOfName.set(name, to === null ? { part: 'none' } : targetOf(kind, to));
  const targets = targetsOf(kind, names, targetOfName);
  return names.map((name, i) => ({
    target: targets[i] ?? { part: 'none' },
    type: mappings.get(name)?.type ?? 'auto',
  }));
}

export type Problem = { field: string; message: string };

/** Lists the problems of the mapping as a whole. JSONL has none, because each of its rows has its own columns. */
export function problemsOf(kind: FileKind, columns: FileColumn[], mapping: ImportMapping | null): Problem[] {
  const fields = columns.flatMap(({ target }) => (target.part === 'field' ? [target.name] : []));
  const has = (field: FieldName): boolean => fields.includes(field);
  const problems: Problem[] = [];
  const need = (isThere: boolean, field: string, message: string): void => {
    if (!isThere) problems.push({ field, message });
  };
  need(has('external_user_id'), 'external_user_id', 'Select the column with the user ID');
  if (kind === 'events') {
    need(
      has('name') || namesAll(mapping),
      'name',
      'Select the column with the event name, or enter one name for all rows',
    );
    const hasTimeOrId = has('occurred_at') || has('message_id') || mapping?.equal_rows_are_one === true;
    need(hasTimeOrId, 'occurred_at', NEITHER_TIME_NOR_ID);
  }
  for (const field of new Set(fields.filter((name, i) => fields.indexOf(name) !== i)))
    problems.push({ field, message: `Two columns are mapped to ${field}` });
  return problems;
}

const NEITHER_TIME_NOR_ID =
  'Select a column with the time or ID of the event, or treat equal rows as one event';

function namesAll(mapping: ImportMapping | null): boolean {
  return (mapping?.event_name ?? '') !== '';
}
