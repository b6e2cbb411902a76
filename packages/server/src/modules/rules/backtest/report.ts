import type { Backtest } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';
import type { Renderer, TemplateText } from '../../rendering/index.ts';
import type { Person } from '../../users/index.ts';
import { Fault } from '../../../platform/fault.ts';
import type { SimulatedEmail } from './emails.ts';
import { OCCASIONS_MAX } from './occasions.ts';
import type { ReplayedEnrollment, ReplayResult } from './replay-rule.ts';
import { type Reason, REASONS } from '../definitions/rule.ts';
import type { Model } from '../project-model.ts';
import { contentToRender } from '../evaluation/create-drafts.ts';
import { localeOfPerson } from '../evaluation/recipient.ts';
import { outline } from '../runs/program.ts';

const LIST_MAX = 1_000;
const SAMPLES_OF_CAPS = 10;

type ReportInput = {
  found: ReplayResult;
  before: ReplayResult | null;
  window: { from: number; until: number };
  model: Model;
  isSaved: boolean;
};

export function report(
  { found, before, window, model, isSaved }: ReportInput,
  samples: Backtest['samples'],
): Backtest {
  const { rule, outcome, collisions } = found;
  const { timeZone } = model.project.settings;
  const held = collisions.held.map(({ userId, at }) => ({ external_user_id: userId, at: iso(at) }));
  return {
    rule: rule.name,
    is_saved: isSaved,
    from: iso(window.from),
    to: iso(window.until),
    stopped_at: isoOrNull(outcome.cutAt),
    evaluated: outcome.occasions,
    enrolled: {
      users: peopleOf(found).size,
      runs: outcome.enrollments.length,
      holdout: outcome.enrollments.filter(({ isHeldOut }) => isHeldOut).length,
    },
    enrollments: outcome.enrollments.slice(0, LIST_MAX).map(enrollmentRow),
    excluded: [...outcome.excluded]
      .map(([reason, count]) => ({ reason, count, sentence: REASONS[reason as Reason] }))
      .toSorted((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
    waiting: outcome.waiting,
    emails: {
      written: outcome.emails.length,
      canceled: outcome.emails.filter(({ isCanceled }) => isCanceled).length,
      without_address: outcome.emails.filter(({ address }) => address === null).length,
      per_day: perDay(outcome.emails, timeZone),
    },
    frequency_caps: {
      held: held.length,
      displaced: collisions.displaced,
      sample: held.slice(0, SAMPLES_OF_CAPS),
    },
    samples,
    steps: outline(rule.definition.steps).map(({ at, path }) => ({
      path,
      ...(outcome.reached.get(at) ?? { users: 0, emails: 0 }),
    })),
    comparison: before && differenceOf(found, before, timeZone),
    assumptions: assumptionsOf(found),
  };
}

function peopleOf({ outcome }: ReplayResult): Set<string> {
  return new Set(outcome.enrollments.map(({ userId }) => userId));
}

function enrollmentRow({
  userId,
  at,
  key,
  by,
  name,
  isHeldOut,
}: ReplayedEnrollment): Backtest['enrollments'][number] {
  const started = by === 'event' ? name : by === 'date' ? `the date in ${name}` : `the audience ${name}`;
  return { external_user_id: userId, at: iso(at), key, trigger: started, holdout: isHeldOut };
}

/** Counts emails by the day, in the project's time zone, on which they would have been written. */
function perDay(emails: SimulatedEmail[], zone: string): Backtest['emails']['per_day'] {
  const days = new Map<string, number>();
  for (const { at } of emails) {
    const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().toString();
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  return [...days]
    .map(([day, count]) => ({ day, emails: count }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1));
}

/** Renders the samples outside of the snapshot, because the snapshot occupies a connection. */
export async function renderSamples(
  { found, model }: Pick<ReportInput, 'found' | 'model'>,
  renderer: Renderer,
): Promise<Backtest['samples']> {
  const samples: Backtest['samples'] = [];
  for (const { person, run, source, at } of found.outcome.samples) {
    const input = contentToRender({ run, email: source, person, model });
    const { content, missing } = await renderer.run('content', input, { projectId: person.projectId });
    const { subject, preheader, body } = content;
    const html = await renderHtml(content, { person, model, renderer });
    samples.push({ external_user_id: person.userId, at: iso(at), subject, preheader, body, html, missing });
  }
  return samples;
}

type HtmlInput = { person: Person; model: Model; renderer: Renderer };

/** Returns null for an email that exceeds the limits of rendering; sending it would fail too. */
async function renderHtml(
  content: TemplateText,
  { person, model: { project }, renderer }: HtmlInput,
): Promise<string | null> {
  const { sender, language } = project.settings;
  const frame = {
    projectName: project.name,
    postalAddress: sender.postalAddress,
    footer: sender.footer,
    unsubscribeUrl: 'https://example.com/unsubscribe',
    locale: localeOfPerson(person, { project }),
    projectLocale: language,
  };
  try {
    const email = { content, frame, untrackedPrefix: null };
    return (await renderer.run('email', email, { projectId: person.projectId })).html;
  } catch (error) {
    if (error instanceof Fault && error.code === 'validation_failed') return null;
    throw error;
  }
}

function differenceOf(found: ReplayResult, before: ReplayResult, zone: string): Backtest['comparison'] {
  const [now, then] = [peopleOf(found), peopleOf(before)];
  const userList = (users: Set<string>) => ({
    users: users.size,
    external_user_ids: [...users].toSorted((a, b) => (a < b ? -1 : 1)).slice(0, LIST_MAX),
  });
  return {
    version: before.rule.version,
    added: userList(now.difference(then)),
    removed: userList(then.difference(now)),
    emails: found.outcome.emails.length - before.outcome.emails.length,
    per_day: perDay(before.outcome.emails, zone),
  };
}

/** Lists what the backtest cannot know, and what it assumes instead. */
function assumptionsOf({ rule, outcome }: ReplayResult): string[] {
  const { when, goal, exits } = rule.definition;
  const notes: [boolean, string][] = [
    [true, 'No user was enrolled before this time, and the rule was enabled all the time'],
    [
      true,
      'Traits, addresses and audiences are those of today. Events that are no longer stored are missing',
    ],
    [
      true,
      'Every email is sent at its deadline. Frequency caps are the only send check, and no member decides',
    ],
    [rule.mode === 'draft', 'Emails that wait for approval count as sent at once'],
    [
      rule.definition.steps.length > 1,
      'Events that a step waits for do not occur, and branches are decided at enrollment',
    ],
    [
      goal !== null || exits.when !== null,
      'Goals and exit conditions are checked when a user is enrolled, not later',
    ],
    [
      when.some(({ kind }) => kind === 'audience'),
      'Only users who are in the audience today count as joined. Users who left are unknown',
    ],
    [outcome.isCut, `At most ${OCCASIONS_MAX} dates and members are evaluated`],
  ];
  return notes.flatMap(([applies, words]) => (applies ? [words] : []));
}
