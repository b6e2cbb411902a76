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
import { suppress } from '../../../packages/server/src/modules/outcomes/suppressions/suppress.ts';
import type { ActEntry, Journal, World } from '../journal.ts';
import { exponential, pick, type Random, randomOf } from '../random.ts';
import type { OpenStage } from '../stage/open-stage.ts';
import { failDomain, type Kind, MAIL, newKey, verifyDomain } from '../stage/world.ts';
import { PEOPLE } from './requests.ts';

type Stage = Pick<OpenStage, 'db' | 'deps' | 'world' | 'saveWorld' | 'tellLoad' | 'goesOn'>;
type Project = World['projects'][number];
type Doing = { stage: Stage; journal: Journal; random: Random };
type Done = Pick<ActEntry, 'act' | 'project' | 'subject'>;
type Person = { every: number; does: (doing: Doing) => Promise<void> };

const ACTOR = 'operator';
const POSTPONED_MS = 60_000;
const AWAY_MS = 8_000;
const APPROVED_AT_ONCE = 20;

const PEOPLE_WHO_ACT: Person[] = [
  { every: 3_000, does: approveSome },
  { every: 4_000, does: (doing) => touch(doing, 'skip') },
  { every: 5_000, does: (doing) => touch(doing, 'postpone') },
  { every: 6_000, does: suppressSomebody },
  { every: 20_000, does: changeKey },
  { every: 45_000, does: loseDomain },
  { every: 40_000, does: pauseAWhile },
];

/** Acts until the run is to end. Every action that began is completed. */
export async function act(stage: Stage, journal: Journal): Promise<void> {
  await Promise.all(
    PEOPLE_WHO_ACT.map(async ({ every, does }, n) => {
      const random = randomOf(`${stage.world.seed} acts ${n}`);
      while (await goesOnAfter(stage, exponential(every, random))) {
        // An action that fails because the database is currently down is recorded as unanswered.
        await does({ stage, journal, random }).catch(() => {});
      }
    }),
  );
}

const LOOK_EVERY_MS = 200;

async function goesOnAfter(stage: Pick<Stage, 'goesOn'>, ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  while (stage.goesOn() && Date.now() < until) await pause(LOOK_EVERY_MS);
  return stage.goesOn();
}

async function noted({ journal }: Doing, done: Done, work: () => Promise<unknown>): Promise<boolean> {
  const at = Date.now();
  const entry = { kind: 'act', at, ...done } as const;
  try {
    await work();
    journal.write({ ...entry, done: Date.now(), status: 200 });
    return true;
  } catch (error) {
    const isRefusal = error instanceof Fault;
    journal.write({ ...entry, done: isRefusal ? Date.now() : null, status: isRefusal ? 409 : null });
    return false;
  }
}

function projectOf({ stage, random }: Doing, kinds: Kind[]): Project {
  return pick(
    stage.world.projects.filter(({ kind }) => kinds.includes(kind as Kind)),
    random,
  );
}

async function approveSome(doing: Doing): Promise<void> {
  const project = projectOf(doing, ['asked', 'asked', 'quiet', 'slow']);
  const drafts = await openDrafts(doing, project, APPROVED_AT_ONCE);
  for (const draft of drafts)
    await move(doing, { project, draft, act: 'approve' }, { kind: 'approve', anyway: true });
}

async function touch(doing: Doing, kind: 'skip' | 'postpone'): Promise<void> {
  const project = projectOf(doing, ['slow', 'asked', 'paused', 'swift']);
  const [draft] = await openDrafts(doing, project, 1);
  if (draft === undefined) return;
  const until = Date.now() + POSTPONED_MS;
  await move(
    doing,
    { project, draft, act: kind },
    kind === 'skip' ? { kind, reason: null } : { kind, until, extend: true },
  );
}

async function openDrafts({ stage }: Doing, { id }: Project, limit: number): Promise<string[]> {
  const rows = await stage.db.query<{ id: string }>(
    `SELECT id FROM beckon.draft WHERE project_id = $1 AND (state = 'scheduled' OR state = 'held' AND reason = 'needs_review')
     ORDER BY id DESC LIMIT $2`,
    [Number(id), limit],
  );
  return rows.map((row) => row.id);
}

const renderer = createRenderer();

type Moving = { project: Project; draft: string; act: 'approve' | 'skip' | 'postpone' };

async function move(doing: Doing, { project, draft, act: name }: Moving, done: MemberAction): Promise<void> {
  const { db, newId, encrypter } = doing.stage.deps;
  const mailroom: SendServices = {
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: MAIL.mailDomain },
    signers: createSigners(encrypter, MAIL),
    providers: NO_PROVIDERS,
    renderer,
  };
  const place = { projectId: Number(project.id), draftId: draft };
  await noted(doing, { act: name, project: project.id, subject: draft }, () =>
    moveDraft({ db, newId, sendServices: mailroom }, place, { act: done, by: { actor: ACTOR } }),
  );
}

async function suppressSomebody(doing: Doing): Promise<void> {
  const { stage, random } = doing;
  const { id } = pick(stage.world.projects, random);
  const value = `u${Math.floor(random() * PEOPLE)}@p${id}.test`;
  await noted(doing, { act: 'suppress', project: id, subject: value }, () =>
    suppress(stage.db, {
      projectId: Number(id),
      kind: 'email',
      value,
      reason: 'manual',
      until: null,
      actor: ACTOR,
    }),
  );
}

/** Rotates a key. The load uses the new key and stops using the old one before the old one is revoked. */
async function changeKey(doing: Doing): Promise<void> {
  const { stage, random } = doing;
  const project = pick(stage.world.projects, random);
  const [old] = project.keys;
  if (!old) return;
  const made = await newKey(stage.deps, Number(project.id));
  project.keys.push(made);
  stage.saveWorld();
  stage.tellLoad(`key ${project.id} ${made.id} ${made.secret}`);
  stage.tellLoad(`retire ${project.id} ${old.id}`);
  const done = { act: 'revoke_key', project: project.id, subject: old.id } as const;
  // Retries until the revocation is known to be done: revoking is idempotent.
  while (!(await noted(doing, done, () => revokeKey(stage.db, { id: old.id })))) await pause(LOOK_EVERY_MS);
  project.keys = project.keys.slice(1);
  stage.tellLoad(`revoke ${project.id} ${old.id}`);
}

async function loseDomain(doing: Doing): Promise<void> {
  const { stage } = doing;
  const { id, domain } = projectOf(doing, ['barred']);
  const place = { projectId: Number(id), name: domain };
  const done = { project: id, subject: domain };
  await noted(doing, { act: 'unverify_domain', ...done }, () => failDomain(stage.deps, place));
  await goesOnAfter(stage, AWAY_MS);
  await noted(doing, { act: 'verify_domain', ...done }, () => verifyDomain(stage.deps, place));
}

async function pauseAWhile(doing: Doing): Promise<void> {
  const { stage } = doing;
  const { id } = projectOf(doing, ['paused']);
  const projectId = Number(id);
  const done = { project: id, subject: id };
  await noted(doing, { act: 'pause', ...done }, () => pauseProject(stage.db, projectId));
  await goesOnAfter(stage, AWAY_MS);
  await noted(doing, { act: 'resume', ...done }, () =>
    resumeProject(stage.db, { projectId, actor: ACTOR, confirmed: true }),
  );
}
