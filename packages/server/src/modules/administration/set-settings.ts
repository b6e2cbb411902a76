import { Fault } from '../../platform/fault.ts';
import { type Actor, recheckHeld } from '../drafts/index.ts';
import { getSettings, type SettingName } from '../workspace/index.ts';
import { listRules, listRuleNeeds } from '../rules/index.ts';
import { takeSendLock, withdrawClaims, changeModes } from '../sending/index.ts';
import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { checkWindows } from '../audiences/index.ts';
import { switchSandbox } from './switch-sandbox.ts';
import { checkConfirmed, previewResume, resumeProject } from './pause-project.ts';
import { writeSettings } from './write-settings.ts';

type Deps = Pick<Database, 'transaction' | 'query' | 'prepared' | 'clock'>;
type Texts = Record<SettingName, string>;

export type SettingsBy = {
  /** The actor of the moves of affected drafts. */
  actor: Actor;
  /** The settings that the member saw. If one of them has changed since then, nothing is changed. */
  seen?: Record<string, string>;
};

const OPERATOR: SettingsBy = { actor: 'operator' };

/**
 * Changes all of these settings or none. Setting `paused` pauses or resumes the project; `autopilot=draft` applies to open drafts at once.
 */
export async function setSettings(
  db: Deps,
  projectId: number,
  ...[changes, by = OPERATOR]: [wanted: Record<string, string>, by?: SettingsBy]
): Promise<Texts> {
  const input: SettingsWrite = { projectId, changes, by };
  const preview = changes.paused === 'false' ? await previewResume(db, projectId) : null;
  if (!preview?.isPaused) return write(db, input);
  checkConfirmed(preview, false);
  // Everything else is checked and set while the project is still paused, so that a rejection resumes nothing.
  await write(db, { ...input, changes: { ...changes, paused: 'true' } });
  await resumeProject(db, { projectId, actor: by.actor, confirmed: true });
  return (await getSettings(db, projectId)).texts;
}

type SettingsWrite = { projectId: number; changes: Record<string, string>; by: SettingsBy };

/**
 * Writes settings under the project lock, which also covers changes of audiences and rules: events are kept as long as one of them looks
 * back. Processing caches settings together with definitions.
 */
function write(db: Deps, { projectId, changes, by }: SettingsWrite): Promise<Texts> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await checkSeen(tx, projectId, by.seen ?? {});
    // Waits for a running claim, so that nothing is claimed after this returns.
    if (changes.paused === 'true') await takeSendLock(tx, projectId);
    const texts = await writeSettings(tx, projectId, changes);
    await incrementModel(tx, projectId);
    const now = db.clock.now();
    if (Object.hasOwn(changes, 'keep_events')) {
      await checkWindows(tx, { projectId, now, field: 'keep_events', listRuleNeeds });
    }
    const endsAutopilot = changes.autopilot !== undefined && texts.autopilot === 'draft';
    const first = endsAutopilot ? await endAutopilot(tx, projectId, { now, actor: by.actor }) : Infinity;
    // Drafts held because of a missing sender are sent as soon as there is one.
    if (SENDER.some((name) => Object.hasOwn(changes, name))) {
      await recheckHeld(tx, { projectId, reasons: ['no_sender', 'domain_not_ready'], now });
    }
    // After all drafts: those that are claimed but not yet being sent stay too.
    if (changes.paused === 'true') await withdrawClaims(tx, { projectId });
    // The sender may be waiting long for the next token of the old throttle, so it is due now.
    const nextAt = changes.throttle === undefined ? first : now;
    // After the drafts too: a process that holds the sender's due row no longer waits for a draft.
    if (nextAt < Infinity) await setTimersEarlier(tx, 'send', [{ projectId, nextAt: new Date(nextAt) }]);
    if (changes.sandbox !== undefined)
      await switchSandbox({ tx, clock: db.clock }, projectId, texts.sandbox === 'on');
    return texts;
  });
}

const SENDER: SettingName[] = ['from_name', 'from_address', 'postal_address'];

async function checkSeen(tx: Tx, projectId: number, seen: Record<string, string>): Promise<void> {
  const { texts } = await getSettings(tx, projectId);
  const changed = Object.entries(texts).filter(([name, text]) => (seen[name] ?? text) !== text);
  if (changed.length === 0) return;
  throw new Fault('conflict', {
    details: changed.map(([field, text]) => ({
      field,
      message: `The setting ${field} was changed by another member. It is ${text} now`,
    })),
  });
}

/** Ends autopilot for all untouched drafts, of every rule. Returns when the sender has to check the first of them. */
async function endAutopilot(
  tx: Tx,
  projectId: number,
  { now, actor }: { now: number; actor: Actor },
): Promise<number> {
  const rules = await listRules(tx, projectId);
  const same = { autopilotMs: null, includeOpen: false, now, actor };
  const modes = rules.map(({ id, definition }) => ({
    ...same,
    ruleId: id,
    expiresAfterMs: definition.expiresAfterMs,
  }));
  return (await changeModes(tx, projectId, modes)).dueAt ?? Infinity;
}
