/**
 * The actions of members and operators during the run. They approve, skip and postpone drafts, suppress recipients and revoke keys. They
 * lose a domain and verify it again, and pause and resume a project. Each action is recorded with its response, or without one if none
 * came.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../../../packages/server/src/platform/fault.ts';
import { createSigners } from '../../../packages/server/src/modules/sending/domains/signers.ts';
import { type MemberAction, moveDraft } from '../../../packages/server/src/modules/review/move-draft.ts';
import {
  resumeProject,
  pauseProject,
} from '../../../packages/server/src/modules/administration/pause-project.ts';
import { revokeKey } from '../../../packages/server/src/modules/ingest/keys/change-key.ts';
import { createRenderer } from '../../../packages/server/src/modules/rendering/pool/renderer.ts';
import {
  type SendServices,
  NO_PROVIDERS,
} from '../../../packages/server/src/modules/delivery/send-services.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import { useRelay } from '../../../packages/server/src/modules/sending/relays/change-relay.ts';
import { suppress } from '../../../packages/server/src/modules/outcomes/suppressions/suppress.ts';
import type { ActionEntry, Journal, World } from '../journal.ts';
import { exponential, pick, type Random, randomOf } from '../random.ts';
import type { OpenStage } from '../stage/open-stage.ts';
import { failDomain, type Kind, MAIL, newKey, verifyDomain } from '../stage/world.ts';
import { USERS_PER_PROJECT } from './requests.ts';

type Stage = Pick<OpenStage, 'db' | 'deps' | 'world' | 'saveWorld' | 'sendToLoad' | 'isRunning'>;
type Project = World['projects'][number];
type ActionContext = { stage: Stage; journal: Journal; random: Random };
type ActionTarget = Pick<ActionEntry, 'action' | 'project' | 'subject'>;
type Actor = { every: number; perform: (context: ActionContext) => Promise<void> };

const OPERATOR = 'operator';
const POSTPONED_MS = 60_000;
const OUTAGE_MS = 8_000;
const APPROVALS_MAX = 20;

const ACTORS: Actor[] = [
  { every: 3_000, perform: approveDrafts },
  { every: 4_000, perform: (context) => changeDraft(context, 'skip') },
  { every: 5_000, perform: (context) => changeDraft(context, 'postpone') },
  { every: 6_000, perform: suppressRecipient },
  { every: 20_000, perform: rotateKey },
  { every: 45_000, perform: loseDomain },
  { every: 40_000, perform: pauseForAWhile },
  { every: 6_000, perform: switchDomain },
  { every: 8_000, perform: moveRelay },
];

/** Acts until the run is to end. Every action that began is completed. */
export async function performActions(stage: Stage, journal: Journal): Promise<void> {
  await Promise.all(
    ACTORS.map(async ({ every, perform }, n) => {
      const random = randomOf(`${stage.world.seed} actions ${n}`);
      while (await continuesAfter(stage, exponential(every, random))) {
        // An action that fails because the database is currently down is recorded as unanswered.
        await perform({ stage, journal, random }).catch(() => {});
      }
    }),
  );
}

const POLL_MS = 200;

async function continuesAfter(stage: Pick<Stage, 'isRunning'>, ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  while (stage.isRunning() && Date.now() < until) await pause(POLL_MS);
  return stage.isRunning();
}

async function recordAction(
  { journal }: ActionContext,
  target: ActionTarget,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const at = Date.now();
  const entry = { kind: 'action', at, ...target } as const;
  try {
    await work();
    journal.write({ ...entry, endedAt: Date.now(), status: 200 });
    return true;
  } catch (error) {
    const isRefusal = error instanceof Fault;
    journal.write({ ...entry, endedAt: isRefusal ? Date.now() : null, status: isRefusal ? 409 : null });
    return false;
  }
}

function projectOf({ stage, random }: ActionContext, kinds: Kind[]): Project {
  return pick(
    stage.world.projects.filter(({ kind }) => kinds.includes(kind)),
    random,
  );
}

async function approveDrafts(context: ActionContext): Promise<void> {
  const project = projectOf(context, ['reviewed', 'reviewed', 'quiet', 'slow']);
  const drafts = await openDrafts(context, project, APPROVALS_MAX);
  for (const draft of drafts)
    await moveOpenDraft(context, { project, draft, act: 'approve' }, { kind: 'approve', anyway: true });
}

async function changeDraft(context: ActionContext, kind: 'skip' | 'postpone'): Promise<void> {
  const project = projectOf(context, ['slow', 'reviewed', 'paused', 'fast']);
  const [draft] = await openDrafts(context, project, 1);
  if (draft === undefined) return;
  const until = Date.now() + POSTPONED_MS;
  await moveOpenDraft(
    context,
    { project, draft, act: kind },
    kind === 'skip' ? { kind, reason: null } : { kind, until, extend: true },
  );
}

async function openDrafts({ stage }: ActionContext, { id }: Project, limit: number): Promise<string[]> {
  const rows = await stage.db.query<{ id: string }>(
    `SELECT id FROM beckon.draft WHERE project_id = $1 AND (state = 'scheduled' OR state = 'held' AND reason = 'needs_review')
     ORDER BY id DESC LIMIT $2`,
    [Number(id), limit],
  );
  return rows.map((row) => row.id);
}

const renderer = createRenderer();

type DraftMove = { project: Project; draft: string; act: 'approve' | 'skip' | 'postpone' };

async function moveOpenDraft(
  context: ActionContext,
  { project, draft, act: name }: DraftMove,
  memberAction: MemberAction,
): Promise<void> {
  const { db, newId, encrypter } = context.stage.deps;
  const sendServices: SendServices = {
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: MAIL.mailDomain },
    signers: createSigners(encrypter, MAIL),
    providers: NO_PROVIDERS,
    renderer,
  };
  const draftRef = { projectId: Number(project.id), draftId: draft };
  await recordAction(context, { action: name, project: project.id, subject: draft }, () =>
    moveDraft({ db, newId, sendServices }, draftRef, {
      act: memberAction,
      by: { actor: OPERATOR },
    }),
  );
}

async function suppressRecipient(context: ActionContext): Promise<void> {
  const { stage, random } = context;
  const { id } = pick(stage.world.projects, random);
  const value = `u${Math.floor(random() * USERS_PER_PROJECT)}@p${id}.test`;
  await recordAction(context, { action: 'suppress', project: id, subject: value }, () =>
    suppress(stage.db, {
      projectId: Number(id),
      kind: 'email',
      value,
      reason: 'manual',
      until: null,
      actor: OPERATOR,
    }),
  );
}

/** Rotates a key. The load uses the new key and stops using the old one before the old one is revoked. */
async function rotateKey(context: ActionContext): Promise<void> {
  const { stage, random } = context;
  const project = pick(stage.world.projects, random);
  const [old] = project.keys;
  if (!old) return;
  const replacement = await newKey(stage.deps, Number(project.id));
  project.keys.push(replacement);
  stage.saveWorld();
  stage.sendToLoad(`key ${project.id} ${replacement.id} ${replacement.secret}`);
  stage.sendToLoad(`retire ${project.id} ${old.id}`);
  const target = { action: 'revoke_key', project: project.id, subject: old.id } as const;
  // Retries until the revocation is known to be done: revoking is idempotent.
  while (!(await recordAction(context, target, () => revokeKey(stage.db, { id: old.id }))))
    await pause(POLL_MS);
  project.keys = project.keys.slice(1);
  stage.sendToLoad(`revoke ${project.id} ${old.id}`);
}

async function loseDomain(context: ActionContext): Promise<void> {
  const { stage } = context;
  const { id, domain } = projectOf(context, ['unverified']);
  const domainRef = { projectId: Number(id), name: domain };
  const target = { project: id, subject: domain };
  await recordAction(context, { action: 'unverify_domain', ...target }, () =>
    failDomain(stage.deps, domainRef),
  );
  await continuesAfter(stage, OUTAGE_MS);
  await recordAction(context, { action: 'verify_domain', ...target }, () =>
    verifyDomain(stage.deps, domainRef),
  );
}

/** Sends from the other domain from now on, which has another relay. */
async function switchDomain(context: ActionContext): Promise<void> {
  const { stage, random } = context;
  const { id, domain, otherDomain } = projectOf(context, ['relayed']);
  const name = pick([domain, otherDomain ?? domain], random);
  await recordAction(context, { action: 'switch_domain', project: id, subject: name }, () =>
    setSettings(stage.db, Number(id), { from_address: `hello@${name}` }),
  );
}

/** Moves one of the domains to another relay, or to the relay of `SMTP_URL`. */
async function moveRelay(context: ActionContext): Promise<void> {
  const { stage, random } = context;
  const { id, domain, otherDomain } = projectOf(context, ['relayed']);
  const projectId = Number(id);
  const relays = Object.values(stage.world.relays);
  const relayId = pick([...relays, ...relays, null], random);
  const relay = relayId === null ? null : { projectId, id: relayId };
  const name = pick([domain, otherDomain ?? domain], random);
  await recordAction(context, { action: 'move_relay', project: id, subject: relayId ?? 'SMTP_URL' }, () =>
    useRelay(stage.deps, { projectId, domain: name, relay }),
  );
}

async function pauseForAWhile(context: ActionContext): Promise<void> {
  const { stage } = context;
  const { id } = projectOf(context, ['paused', 'relayed']);
  const projectId = Number(id);
  const target = { project: id, subject: id };
  await recordAction(context, { action: 'pause', ...target }, () => pauseProject(stage.db, projectId));
  await continuesAfter(stage, OUTAGE_MS);
  await recordAction(context, { action: 'resume', ...target }, () =>
    resumeProject(stage.db, { projectId, actor: OPERATOR, confirmed: true }),
  );
}
