import type { Import, ImportCheck, ImportKind, PeopleCounted } from '@beckon/contract/dashboard';
import { capital, spaced } from '../../parts/codes.ts';

/** The names of the kinds of imports. */
export const KINDS: Record<ImportKind, string> = { users: 'Users', events: 'Events', stripe: 'Stripe' };

export function count(n: number): string {
  return n.toLocaleString('en-GB');
}

export function counted({ count: n, at_least: isMore }: PeopleCounted): string {
  return isMore ? `more than ${count(n)}` : count(n);
}

export function pluralize(n: number, singular: string, plural = `${singular}s`): string {
  return `${count(n)} ${n === 1 ? singular : plural}`;
}

/** From 0 to 100; null if the total is unknown. */
export function percentOf({ state, size_bytes: size, progress }: Import): number | null {
  if (state === 'done') return 100;
  const { rows, rows_total: total, bytes } = progress;
  if (total !== null && total > 0) return Math.min(100, (rows * 100) / total);
  if (size !== null && size > 0) return Math.min(100, (bytes * 100) / size);
  return null;
}

/** The headline of a check. */
export function emailsLine({ rules }: Pick<ImportCheck, 'rules'>): string {
  const none = 'Triggers 0 emails.';
  if (rules.length === 0) return `${none} No enabled rule is triggered by an event of this import.`;
  const [rule] = rules;
  const more = rules.length > 1 || rule?.users.at_least === true;
  const people = Math.max(...rules.map((rule) => rule.users.count));
  const which = rules.length === 1 ? 'one rule' : `${count(rules.length)} rules`;
  return `${none} As live events, they would trigger ${which}, for ${more ? 'up to ' : ''}${pluralize(people, 'user', 'users')} each.`;
}

/** The results of an import in one sentence. */
export function broughtLine({ progress, kind, state }: Import): string {
  const { users, events, rejected } = progress;
  const parts: string[] = [];
  if (users.accepted > 0)
    parts.push(
      `${pluralize(users.accepted, 'user')}: ${count(users.new)} new, ${count(users.changed)} changed, ${count(users.same)} unchanged`,
    );
  if (events.accepted > 0)
    parts.push(
      `${pluralize(events.accepted, 'event')}: ${count(events.new)} new, ${count(events.known)} duplicates`,
    );
  if (rejected > 0) parts.push(pluralize(rejected, 'row rejected', 'rows rejected'));
  if (parts.length === 0) return state === 'done' ? `No data found: ${KINDS[kind]}.` : 'No data yet.';
  return `${parts.join(' · ')}.`;
}

/** The note of an import that contained only existing data. */
export function nothingNew({ progress: { users, events } }: Import): string | null {
  const duplicates = users.same + events.known;
  if (duplicates === 0 || users.new + users.changed + events.new > 0) return null;
  const all = users.accepted + events.accepted;
  return `No new data: ${count(duplicates)} of ${count(all)} existed already.`;
}

const FACTS: Record<string, string> = {
  customers: 'Customers',
  subscriptions: 'Subscriptions',
  invoices: 'Invoices',
  unmatched_customers: 'Customers without a matching user',
  trials_without_reminder: 'Running trials without a reminder',
};

/** The label of a source's fact; unknown names are shown in words. */
export function factLabel(name: string): string {
  const label = FACTS[name];
  if (label !== undefined) return label;
  return capital(spaced(name));
}

export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  const i = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3) - 1);
  const value = bytes / 1_000 ** (i + 1);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[i]}`;
}
