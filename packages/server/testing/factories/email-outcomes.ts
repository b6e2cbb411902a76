import { idMaker } from '../../src/platform/ids.ts';
import { silentLog } from '../../src/platform/log.ts';
import type { ReportedOutcome, Outcome, OutcomeData } from '../../src/modules/outcomes/outcome.ts';
import { recordOutcomes } from '../../src/modules/outcomes/record/record-outcomes.ts';
import { HOUR } from './drafts.ts';
import { newScenario, type Stage, type Scenario } from '../scenario.ts';

export type SentEmailRow = {
  id: string;
  draft_id: string;
  user: string;
  state: string;
  reason: string | null;
};

/** A scenario after its emails were sent, with any outcome. */
export type OutcomeScenario = Scenario & {
  /** Returns the emails in the order in which they were claimed. */
  messages(userId?: string): Promise<SentEmailRow[]>;
  /** Records outcomes of the newest email to this user now. */
  recordOutcome(userId: string, ...what: OutcomeData[]): Promise<Outcome[]>;
  record(happened: Omit<ReportedOutcome, 'projectId'>[]): Promise<Outcome[]>;
  /** Returns type and class of the recorded outcomes, in their order. */
  outcomes(userId?: string): Promise<string[]>;
  suppressed(): Promise<string[]>;
  webhooks(): Promise<{ id: string; type: string; body: string }[]>;
};

/** Outcomes for tests: `OPENED` is an open by a person. */
export const OPENED: OutcomeData = { type: 'email.opened', bot: 'no', botReason: null };
export const BOT_OPENED: OutcomeData = {
  type: 'email.opened',
  bot: 'yes',
  botReason: 'prefetch',
};
export const CLICKED: OutcomeData = {
  type: 'email.clicked',
  bot: 'no',
  botReason: null,
  link: 0,
  url: 'https://acme.example/start',
};
export const REPLIED: OutcomeData = { type: 'email.replied', inboundId: '<1@x.org>', snippet: 'Thanks!' };
export const ONE_CLICK: OutcomeData = { type: 'email.unsubscribed', method: 'one_click' };
export const COMPLAINED: OutcomeData = { type: 'email.unsubscribed', method: 'complaint' };

export function bounced(
  bounceClass: 'hard' | 'soft' | 'policy' | 'infrastructure',
  verified = true,
): OutcomeData {
  const status = { hard: '5.1.1', soft: '4.2.2', policy: '5.7.1', infrastructure: null }[bounceClass];
  return {
    type: 'email.bounced',
    bounceClass,
    status,
    reason: 'no such user here',
    source: 'dsn',
    verified,
  };
}

/** Creates a project whose send checks always pass and whose drafts wait one hour. */
export async function newOutcomeScenario(stage: Stage): Promise<OutcomeScenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ frequency_cap: 'off', quiet_hours: 'off', autopilot: '1h' });
  const { db } = stage.server;
  const { projectId } = scenario;
  const deps = { db, newId: idMaker(db.clock), log: silentLog };

  async function messages(userId: string | null = null): Promise<SentEmailRow[]> {
    return db.query(
      `SELECT id, draft_id, external_user_id AS user, state, reason FROM beckon.email
       WHERE project_id = $1 AND ($2::text IS NULL OR external_user_id = $2) ORDER BY claimed_at, id`,
      [projectId, userId],
    );
  }
  async function record(happened: Omit<ReportedOutcome, 'projectId'>[]): Promise<Outcome[]> {
    return recordOutcomes(
      deps,
      happened.map((outcome) => ({ ...outcome, projectId }) as ReportedOutcome),
    );
  }
  return {
    ...scenario,
    messages,
    record,
    async recordOutcome(userId, ...what) {
      const message = (await messages(userId)).at(-1);
      if (!message) throw new Error(`no email to ${userId} was sent`);
      return record(what.map((outcome) => ({ ...outcome, emailId: message.id, occurredAt: scenario.now() })));
    },
    async outcomes(userId) {
      const rows = await db.query<{ type: string; class: string }>(
        `SELECT type, class FROM beckon.outcome WHERE project_id = $1 AND ($2::text IS NULL OR external_user_id = $2)
         ORDER BY recorded_at, id`,
        [projectId, userId ?? null],
      );
      return rows.map((row) => `${row.type.slice(6)}${row.class === '' ? '' : ` ${row.class}`}`);
    },
    async suppressed() {
      const rows = await db.query<{ kind: string; value: string; reason: string }>(
        `SELECT kind, value, reason FROM beckon.suppression WHERE project_id = $1 ORDER BY kind, value`,
        [projectId],
      );
      return rows.map(({ kind, value, reason }) => `${kind} ${value}: ${reason}`);
    },
    webhooks: () =>
      db.query(`SELECT id, type, body FROM beckon.webhook WHERE project_id = $1 ORDER BY created_at, id`, [
        projectId,
      ]),
  };
}

/** Returns a rule that sends one email after the other to each user with the event `began`. */
export function emailsRule(more: object = {}, emails = 1): object {
  const draft = (n: number): object => ({ draft: { subject: `Email ${n}`, body: 'Hello.' } });
  const steps = Array.from({ length: emails }, (_, n) =>
    n === 0 ? [draft(1)] : [{ wait: '2d' }, draft(n + 1)],
  );
  return { name: 'Emails', when: { event: 'began' }, mode: 'autopilot', steps: steps.flat(), ...more };
}

/** Starts the rule for each user and sends the email an hour later. */
export async function sendTo(scenario: Scenario, userIds: string[]): Promise<void> {
  for (const userId of userIds) {
    await scenario.user(userId, { email: `${userId}@x.org` });
    await scenario.event(userId, 'began');
  }
  await scenario.later(HOUR);
}
