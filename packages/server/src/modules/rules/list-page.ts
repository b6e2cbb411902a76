import { FILTER_KEYS, type ListResponse, type RuleListed, type SortOf } from '@beckon/contract/dashboard';
import { type FilteredItem, matches, WORDS, wordsText } from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { type CsvColumns, type KitDeps, type ListQuery, pageOfAll } from '../workspace/index.ts';
import { audienceNames } from './audience-names.ts';
import { usesOf } from './definitions/uses.ts';
import { listRuleEntries, type RuleEntry } from './rule-view.ts';
import { outline } from './runs/program.ts';

type RulesQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'rules'> };

/** Returns a page of the rules that pass a filter. A project has few enough rules to filter and sort them in memory. */
export async function rulePage(
  { db }: Pick<KitDeps, 'db'>,
  { projectId, filter: text, sort = '-priority', ...page }: RulesQuery,
): Promise<ListResponse<RuleListed>> {
  const filter = readFilter(text, FILTER_KEYS.rules);
  const audienceName = await audienceNames(db, projectId);
  const rows = (await listRuleEntries(db, projectId))
    .filter((entry) => matches(filter, filteredRule(entry, audienceName)))
    .map(({ listed }) => listed);
  return pageOfAll(sortRules(rows, sort), page);
}

type AudienceName = (id: string) => string | undefined;

function filteredRule({ listed, definition }: RuleEntry, audienceName: AudienceName): FilteredItem {
  const { name, on, mode, sentence, warnings, alarm } = listed;
  const { when, steps, topic } = definition;
  return {
    name,
    state: on ? 'enabled' : 'disabled',
    mode,
    event: usesOf(definition).flatMap(({ event, starts }) => (starts ? [event] : [])),
    audience: when.flatMap((trigger) =>
      trigger.kind === 'audience' ? (audienceName(trigger.audienceId) ?? []) : [],
    ),
    template: outline(steps).flatMap(({ step }) =>
      step.kind === 'draft' && 'name' in step.email ? [step.email.name] : [],
    ),
    topic: topic ?? undefined,
    active: isActive(listed) ? 'yes' : 'no',
    warning: warnings.length > 0 || alarm !== null ? 'yes' : 'no',
    [WORDS]: wordsText([name, sentence]),
  };
}

type WeekCount = 'enrolled' | 'drafted' | 'sent' | 'goal';

/** The total of the last seven days. */
function weekTotal({ week }: Pick<RuleListed, 'week'>, count: WeekCount): number {
  return week.reduce((total, day) => total + day[count], 0);
}

/** A rule with users in it now, or with an enrollment or an email in the last seven days. */
export function isActive(rule: Pick<RuleListed, 'users' | 'week'>): boolean {
  return rule.users + weekTotal(rule, 'enrolled') + weekTotal(rule, 'drafted') + weekTotal(rule, 'sent') > 0;
}

const SORT_VALUES: Record<string, (rule: RuleListed) => number | string> = {
  name: ({ name }) => name,
  emails: ({ emails }) => emails,
  users: ({ users }) => users,
  drafted: (rule) => weekTotal(rule, 'drafted'),
  sent: (rule) => weekTotal(rule, 'sent'),
  goal: (rule) => weekTotal(rule, 'goal'),
};

/** Sorts rules that are in the order of priority. Rules with equal values stay in this order. */
export function sortRules(rows: RuleListed[], sort: SortOf<'rules'>): RuleListed[] {
  if (sort === '-priority') return rows;
  if (sort === 'priority') return rows.toReversed();
  const value = SORT_VALUES[sort.replace('-', '')];
  if (!value) throw new Error(`the rules have no order ${sort}`);
  const sign = sort.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(value(a), value(b)));
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export const CSV_COLUMNS: CsvColumns<RuleListed> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ on }) => (on ? 'enabled' : 'disabled'),
  mode: ({ mode }) => mode,
  sends_after: ({ sends_after: after }) => after,
  priority: ({ priority }) => priority,
  summary: ({ sentence }) => sentence,
  emails: ({ emails }) => emails,
  users: ({ users }) => users,
  open_drafts: ({ open_drafts: drafts }) => drafts,
  enrolled_7_days: (rule) => weekTotal(rule, 'enrolled'),
  drafted_7_days: (rule) => weekTotal(rule, 'drafted'),
  sent_7_days: (rule) => weekTotal(rule, 'sent'),
  goal_7_days: (rule) => weekTotal(rule, 'goal'),
  warnings: ({ warnings, alarm }) =>
    (alarm === null ? warnings : [alarm, ...warnings]).map(({ message }) => message).join('; '),
  created_at: ({ created_at: at }) => at,
  updated_at: ({ updated_at: at }) => at,
};
