import type { Import as Shown, ImportCheck } from '@beckon/contract/dashboard';
import { table } from './table.ts';

const count = (n: number): string => n.toLocaleString('en-GB');

/** One line while somebody waits. */
export function progressLine({ state, progress }: Shown): string {
  const { rows, rows_total: total, rows_per_s: rate, seconds_left: left, waits_for: waitsFor } = progress;
  const parts = [
    `${state}: ${count(rows)}${total === null ? '' : ` of ${count(total)}`} rows`,
    ...(rate === null ? [] : [`${count(rate)} a second`]),
    ...(left === null ? [] : [`about ${count(left)} s left`]),
    ...(waitsFor === 'queue' ? ['the queue is full: it waits for a server to digest it'] : []),
    ...(waitsFor === 'another_import' ? ['another import of this project goes first'] : []),
  ];
  return parts.join(', ');
}

export function describeImport(one: Shown): string {
  const { id, name, state, problem, check } = one;
  const head = `Import ${id} of ${name.replaceAll(/\p{Cc}/gu, '\u{FFFD}')}: ${state}`;
  const parts = [problem === null ? head : `${head}\n${problem}`];
  if (state === 'checked') parts.push(...checkLines(check));
  if (one.progress.rows > 0) parts.push(broughtLines(one));
  const facts = Object.entries(state === 'checked' ? (check?.facts ?? {}) : one.facts);
  if (facts.length > 0)
    parts.push(
      table(
        facts.map(([fact, n]) => ({ fact, count: n })),
        '',
      ),
    );
  return parts.join('\n\n');
}

function checkLines(check: ImportCheck | null): string[] {
  if (!check) return [];
  const { rows, users, events, rejected, rejected_by: reasons, affected_users: people, names, rules } = check;
  const isMore = people.new.at_least === true || people.known.at_least === true;
  const lines = [
    `${count(rows)} rows: ${count(users)} users, ${count(events)} events, ${count(rejected)} rejected; ` +
      `about ${count(people.new.count)} people who are new and ${count(people.known.count)} who are known${isMore ? ', or more' : ''}.\n` +
      '0 letters will go out.',
  ];
  if (rules.length > 0) {
    const rows_ = rules.map(({ name, event, users: who }) => ({ rule: name, event, people: who.count }));
    lines.push(`Rules that begin with these events, and how many people have one:\n${table(rows_, '')}`);
  }
  if (names.length > 0)
    lines.push(
      table(
        names.map(({ name, events: n, first_at, last_at }) => ({ event: name, count: n, first_at, last_at })),
        '',
      ),
    );
  if (reasons.length > 0) lines.push(table(reasons, ''));
  return lines;
}

function broughtLines({ progress, is_live: isLive }: Shown): string {
  const { rows, users, events, rejected, erased } = progress;
  return [
    `${count(rows)} rows, ${count(rejected)} rejected${erased > 0 ? `, ${count(erased)} of people who were erased` : ''}`,
    `Users: ${count(users.new)} new, ${count(users.changed)} changed, ${count(users.same)} known as they are`,
    `Events: ${count(events.new)} new, ${count(events.known)} known`,
    ...(isLive ? [] : ['0 letters went out for it']),
  ].join('\n');
}
