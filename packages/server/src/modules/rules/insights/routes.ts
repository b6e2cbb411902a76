import type { InsightGroup, InsightGrouping, InsightsQuery } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import { plainCell } from '../../../platform/text/csv.ts';
import { Fault } from '../../../platform/fault.ts';
import type { Database } from '../../../platform/db/database.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { dayPeriods } from './day-periods.ts';
import { countEmailDays } from './email-days.ts';
import { showInsights } from './show-insights.ts';
import { type DashboardRoute, getSettings, routesFor, sendPieces } from '../../workspace/index.ts';

const { route } = routesFor();

const DAY_MS = 86_400_000;
const DAYS = 30;
const DAYS_MAX = 366;

export const insightRoutes: DashboardRoute[] = [
  route('GET /projects/:project/insights', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, query }) {
      const { by, since, until, earlier } = await readRange(db, projectId, query);
      const scope = { projectId, by };
      const range = await showInsights(db, { ...scope, since, until });
      if (!query.compare) return { data: { by, range, before: null } };
      const before = await showInsights(db, { ...scope, ...earlier, withoutLift: true });
      return { data: { by, range, before } };
    },
  }),
  route('GET /projects/:project/insights/days', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, query }) {
      const { timeZone: zone } = (await getSettings(db, projectId)).settings;
      const { days = DAYS, compare = false, rules: byRule = false } = query;
      const now = db.clock.now();
      return { data: await countEmailDays(db, { projectId, now, days, zone, compare, byRule }) };
    },
  }),
  route('GET /projects/:project/insights/export', {
    needs: 'admin',
    isHeavy: true,
    async handle({ db }, { projectId, query, reply }) {
      const { earlier: _earlier, ...range } = await readRange(db, projectId, query);
      const { groups } = await showInsights(db, { projectId, ...range });
      const lines = [COLUMNS, ...groups.map((group) => cellsOf(range.by, group))].map((values) =>
        csvLine(values),
      );
      const file = { name: `insights-by-${range.by}.csv`, type: 'text/csv; charset=utf-8' };
      return sendPieces(reply, file, [`${lines.join('\n')}\n`]);
    },
  }),
];

type Period = { since: number; until: number };
type Range = Period & { by: InsightGrouping; earlier: Period };

/** A number of days counts calendar days in the project's time zone, including today, as on all other screens. */
async function readRange(db: Database, projectId: number, query: InsightsQuery): Promise<Range> {
  const now = db.clock.now();
  const { timeZone: zone } = (await getSettings(db, projectId)).settings;
  const by = query.by ?? 'rule';
  const until = query.until === undefined ? now + 1 : readTime(query.until, 'until');
  if (query.since === undefined) {
    const periods = dayPeriods({ now: until - 1, days: query.days ?? DAYS, zone });
    return { by, ...spanOf(periods.now), earlier: spanOf(periods.before) };
  }
  const since = readTime(query.since, 'since');
  if (since >= until) throw invalid('since must be before until', 'since');
  if (until - since > DAYS_MAX * DAY_MS) throw invalid(`A range has at most ${DAYS_MAX} days`, 'since');
  return { by, since, until, earlier: { since: since - (until - since), until: since } };
}

function spanOf({ since, until }: Period): Period {
  return { since, until };
}

function readTime(text: string, field: string): number {
  const at = parseInstant(text);
  if (Number.isNaN(at)) throw invalid(`${field} must be a time, such as 2027-03-01T00:00:00Z`, field);
  return at;
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

const COLUMNS = [
  'by',
  'name',
  'sent',
  'delivered',
  'opened',
  'clicked',
  'replied',
  'bot_opened',
  'bot_clicked',
  'bounced_hard',
  'bounced_soft',
  'bounced_policy',
  'bounced_infrastructure',
  'complained',
  'unsubscribed',
  'edited',
  'median_open_seconds',
];

function cellsOf(by: InsightGrouping, group: InsightGroup): (string | null)[] {
  const { hard, soft, policy, infrastructure } = group.bounced;
  const counts = [
    group.sent,
    group.delivered,
    group.opened,
    group.clicked,
    group.replied,
    group.bot_opened,
    group.bot_clicked,
    hard,
    soft,
    policy,
    infrastructure,
    group.complained,
    group.unsubscribed,
    group.edited.edited,
  ];
  const median = group.median_open_ms;
  const seconds = median === null ? null : String(Math.round(median / 1000));
  return [by, plainCell(group.name), ...counts.map(String), seconds];
}
