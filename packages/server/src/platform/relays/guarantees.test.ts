import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRelayKind, RelayAdapter } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';
import { idempotencyOf } from './idempotency.ts';

/** The table of guarantees per provider names the tests that keep it, and says what the adapters do. */
const PAGE = join(import.meta.dirname, '../../../../../docs/reference/relay-providers.md');
const page = readFileSync(PAGE, 'utf8');

/** The rows of the first table under a heading or after a sentence, without its header. */
function tableAfter(start: string): string[][] {
  const lines = page.slice(page.indexOf(start)).split('\n');
  const from = lines.findIndex((line) => line.startsWith('|'));
  const rows = lines.slice(from).slice(
    0,
    lines.slice(from).findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const [header = [], , ...guarantees] = tableAfter('## Guarantees per provider');
const [, , ...tests] = tableAfter('These tests keep the rows');
const titles = header.slice(1);
const adapterOf = (title: string): RelayAdapter | undefined =>
  Object.values(RELAY_ADAPTERS).find((adapter) => adapter.title === title);

describe('the table of guarantees', () => {
  test('has a column for each provider', () => {
    expect(titles.toSorted()).toEqual(
      Object.values(RELAY_ADAPTERS)
        .map(({ title }) => title)
        .toSorted(),
    );
  });

  test('names a test for each row, and no other rows', () => {
    const rows = guarantees.map(([row]) => row);
    expect(rows.filter((row) => !tests.some(([of]) => of === row))).toEqual([]);
    expect(tests.filter(([of]) => !rows.includes(of))).toEqual([]);
  });

  test.each(tests)('%s: %s exists', (_row, title, link) => {
    const file = join(dirname(PAGE), /\(([^)]+)\)/.exec(link ?? '')?.[1] ?? '');
    expect(existsSync(file), file).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(`'${(title ?? '').replaceAll('`', '')}'`);
  });

  const minutes = (ms: number | null): string =>
    ms === null ? '–' : ms < 3_600_000 ? `${ms / 60_000} minutes` : `${ms / 3_600_000} hours`;
  const repeats = (kind: HttpRelayKind): string => {
    const idempotency = idempotencyOf(kind);
    if (idempotency === null) return '–';
    return idempotency.repeatsAnswer ? 'yes' : 'if the first one did not arrive';
  };
  const EXACT: Record<string, (adapter: RelayAdapter) => string> = {
    'SPF include': (adapter) => adapter.spf({})?.include ?? '–',
    'Idempotency key': ({ idempotencyWindowMs }) => minutes(idempotencyWindowMs),
    'Unknown delivery settled by the same request': ({ kind }) => repeats(kind),
  };
  const OFFERED: Record<string, (adapter: RelayAdapter) => boolean> = {
    'Outcomes pushed': ({ webhook }) => webhook !== null,
    'Outcomes pulled, without a public address': ({ pull }) => pull !== null,
    'Outcomes of emails sent by SMTP': ({ smtp }) => smtp !== null,
    'Webhook created by Beckon': ({ webhook }) => webhook?.register !== undefined,
    'Suppression list imported on request': ({ suppressions }) => suppressions !== null,
    'Address that simulates a bounce': ({ simulator }) => simulator !== null,
  };

  test.each(titles)('says what the adapter of %s does', (title) => {
    const adapter = adapterOf(title);
    const cells = new Map(guarantees.map((row) => [row[0] ?? '', row[header.indexOf(title)]]));
    if (!adapter) throw new Error(`there is no provider ${title}`);
    for (const [row, exact] of Object.entries(EXACT))
      expect([row, cells.get(row)]).toEqual([row, exact(adapter)]);
    for (const [row, isOffered] of Object.entries(OFFERED))
      expect([row, cells.get(row) !== '–']).toEqual([row, isOffered(adapter)]);
    expect(cells.get('Sent at most once')).toBe('yes');
  });
});
