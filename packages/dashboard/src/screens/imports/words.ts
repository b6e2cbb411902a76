import type { Import, ImportCheck, ImportKind, PeopleCounted } from '@beckon/contract/dashboard';

/** What an import is called where its kind has to be said. */
export const KINDS: Record<ImportKind, string> = { users: 'Users', events: 'Events', stripe: 'Stripe' };

export function count(n: number): string {
  return n.toLocaleString('en-GB');
}

export function counted({ count: n, at_least: isMore }: PeopleCounted): string {
  return isMore ? `more than ${count(n)}` : count(n);
}

export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

/** From 0 to 100; null where nobody knows of how much. */
export function percentOf({ state, size_bytes: size, progress }: Import): number | null {
  if (state === 'done') return 100;
  const { rows, rows_total: total, bytes } = progress;
  if (total !== null && total > 0) return Math.min(100, (rows * 100) / total);
  if (size !== null && size > 0) return Math.min(100, (bytes * 100) / size);
  return null;
}

/** The headline of a check, and what it means. */
export function lettersLine({ rules }: Pick<ImportCheck, 'rules'>): string {
  const none = '0 letters will go out.';
  if (rules.length === 0) return `${none} No enabled rule begins with an event of this import.`;
  const [one] = rules;
  const more = rules.length > 1 || one?.users.at_least === true;
  const people = Math.max(...rules.map((rule) => rule.users.count));
  const which = rules.length === 1 ? 'one rule' : `${count(rules.length)} rules`;
  return `${none} Told as they happened, these events would have been looked at by ${which}, for ${more ? 'up to ' : ''}${many(people, 'person', 'people')} each.`;
}

/** What an import brought, in a sentence. */
export function broughtLine({ progress, kind, state }: Import): string {
  const { users, events, rejected } = progress;
  const parts: string[] = [];
  if (users.accepted > 0)
    parts.push(
      `${many(users.accepted, 'user')}: ${count(users.new)} new, ${count(users.changed)} changed, ${count(users.same)} known as they are`,
    );
  if (events.accepted > 0)
    parts.push(`${many(events.accepted, 'event')}: ${count(events.new)} new, ${count(events.known)} known`);
  if (rejected > 0) parts.push(many(rejected, 'row rejected', 'rows rejected'));
  if (parts.length === 0)
    return state === 'done' ? `Nothing was in it for ${KINDS[kind].toLowerCase()}.` : 'Nothing yet.';
  return `${parts.join(' · ')}.`;
}

/** An import that was done before brings nothing new, and says so. */
export function nothingNew({ progress: { users, events } }: Import): string | null {
  const known = users.same + events.known;
  if (known === 0 || users.new + users.changed + events.new > 0) return null;
  const all = users.accepted + events.accepted;
  return `Nothing new: ${count(known)} of ${count(all)} were known.`;
}

const FACTS: Record<string, string> = {
  customers: 'Customers',
  subscriptions: 'Subscriptions',
  invoices: 'Invoices',
  unmatched_customers: 'Customers of whom nobody is known',
  trials_without_timer: 'Running trials that stay unarmed',
};

/** A source says facts by names; those that are not known here are shown as they are. */
export function factLabel(name: string): string {
  const known = FACTS[name];
  if (known !== undefined) return known;
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  const i = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3) - 1);
  const value = bytes / 1_000 ** (i + 1);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[i]}`;
}
