import type { RuleListed } from '@beckon/contract/dashboard';

export const RULE_STATES = {
  all: 'All',
  enabled: 'Enabled',
  disabled: 'Disabled',
  inactive: 'No activity',
} as const;
export type RuleState = keyof typeof RULE_STATES;

type WeekTotals = { enrolled: number; drafted: number; sent: number; goal: number };

/** The totals of the last seven days. */
export function weekOf({ week }: Pick<RuleListed, 'week'>): WeekTotals {
  const sum = (kind: keyof WeekTotals): number => week.reduce((all, day) => all + day[kind], 0);
  return { enrolled: sum('enrolled'), drafted: sum('drafted'), sent: sum('sent'), goal: sum('goal') };
}

/** An enabled rule without a user in it now, and without enrollments and emails in the last seven days. */
export function isInactive(rule: Pick<RuleListed, 'on' | 'users' | 'week'>): boolean {
  const { enrolled, drafted, sent } = weekOf(rule);
  return rule.on && rule.users + enrolled + drafted + sent === 0;
}

const IN_STATE: Record<RuleState, (rule: RuleListed) => boolean> = {
  all: () => true,
  enabled: ({ on }) => on,
  disabled: ({ on }) => !on,
  inactive: isInactive,
};

const SORTS = {
  name: ({ name }: RuleListed): string | number => name.toLowerCase(),
  emails: ({ emails }: RuleListed) => emails,
  users: ({ users }: RuleListed) => users,
  drafted: (rule: RuleListed) => weekOf(rule).drafted,
  sent: (rule: RuleListed) => weekOf(rule).sent,
  goal: (rule: RuleListed) => weekOf(rule).goal,
};
type SortKey = keyof typeof SORTS;

/** `sort`: a column, such as `name`, and descending with `-`. */
type ListOptions = { filter: string | undefined; state: RuleState; sort: string | undefined };

/** The rules that match, in the given order of priority unless a sort is chosen. */
export function listRules(rules: readonly RuleListed[], { filter, state, sort }: ListOptions): RuleListed[] {
  const words = (filter ?? '').toLowerCase().split(/\s+/);
  const matches = rules.filter(
    (rule) =>
      IN_STATE[state](rule) &&
      words.every((word) => `${rule.name} ${rule.sentence}`.toLowerCase().includes(word)),
  );
  const chosen = readSort(sort);
  if (chosen === null) return matches;
  const value = SORTS[chosen.by];
  const compare = (a: RuleListed, b: RuleListed): number => {
    const [x, y] = [value(a), value(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  return matches.toSorted((a, b) => (chosen.down ? compare(b, a) : compare(a, b)));
}

export function readSort(sort: string | undefined): { by: SortKey; down: boolean } | null {
  const by = (sort ?? '').replace(/^-/, '');
  return by in SORTS ? { by: by as SortKey, down: sort?.startsWith('-') === true } : null;
}
