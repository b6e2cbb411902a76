import { createProject, setSettings, nextProjectId } from '../../administration/index.ts';
import { createAudience } from '../../audiences/index.ts';
import type { SendServices } from '../../delivery/index.ts';
import { createKey } from '../../ingest/index.ts';
import { AUDIENCES, DOMAIN, RULES, SETTINGS, TEMPLATES } from './harbour.ts';
import { liveThrough } from './live-through.ts';
import { randomOf } from './random.ts';
import { storyOf } from './story.ts';
import { createRule, listRuleNeeds } from '../../rules/index.ts';
import { addDomain, type MailSettings, type SuppressionHasher } from '../../sending/index.ts';
import { createTemplate } from '../../templates/index.ts';
import { ensurePartitions } from '../../users/index.ts';
import { listDemos, type Project } from '../../workspace/index.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Pepper } from '../../../platform/crypto/hash.ts';
import type { Database } from '../../../platform/db/database.ts';
import { copyProject, deleteProject } from '../../../platform/db/project-rows.ts';
import { inSnapshot } from '../../../platform/db/session-transactions.ts';
import { idMaker } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Clock } from '../../../platform/time/clock.ts';

type DemoDeps = {
  db: Database;
  /** A separate, migrated database that uses this clock; dropped when it is closed. */
  openScratch: (clock: Clock) => Promise<{ db: Database; close(): Promise<void> }>;
  pepper: Pepper;
  encrypter: Encrypter;
  mail: MailSettings;
  tokenKeys: TokenKeys;
  hasher: SuppressionHasher;
  sendServices: SendServices;
  log: Log;
  /** The organization that owns the demo; null before the first organization exists, which then takes over the demo. */
  organizationId: string | null;
  onProgress: (part: number) => void;
};

const DAY = 86_400_000;
export const DEMO_NAME = 'Harbour';
export const DEMO_DAYS = 90;
const SEED = 20;

type Demo = { project: Project; rows: number };

/**
 * Simulates a demo in a separate database, then copies it whole in one transaction. Its emails always stay in the test inbox, whatever the
 * settings say, because the project is marked as a demo.
 */
export async function makeDemo(deps: DemoDeps, days = DEMO_DAYS): Promise<Demo> {
  const { db } = deps;
  const to = db.clock.now();
  const span = { from: to - days * DAY, to };
  let now = span.from;
  const clock = { set: (at: number) => (now = Math.round(at)) };
  const scratch = await deps.openScratch({ now: () => now });
  try {
    const id = await nextProjectId(db);
    const project = await setUp(deps, scratch.db, id);
    const random = randomOf(SEED);
    await liveThrough(
      {
        ...deps,
        ...project,
        db: scratch.db,
        clock,
        random,
        newId: idMaker(scratch.db.clock),
        sendServices: inTestInbox(deps.sendServices),
        onDay: (day) => deps.onProgress(day / days),
      },
      storyOf(random, span),
      span,
    );
    for (let at = span.from; at <= to; at += 28 * DAY) await ensurePartitions(db, at);
    const rows = await inSnapshot(scratch.db, (from) => db.transaction((tx) => copyProject(from, tx, id)));
    return { project: project.project, rows };
  } finally {
    await scratch.close();
  }
}

function inTestInbox(sendServices: SendServices): SendServices {
  return { ...sendServices, outlet: { ...sendServices.outlet, kind: 'test_inbox' } };
}

type SetUp = { project: Project & { key: { id: string; last4: string } } };

async function setUp(deps: DemoDeps, db: Database, id: number): Promise<SetUp> {
  await ensurePartitions(db, db.clock.now());
  const { organizationId } = deps;
  const project = await createProject(db, { id, name: DEMO_NAME, organizationId, isDemo: true });
  await setSettings(db, id, SETTINGS);
  const key = await createKey(
    { db, pepper: deps.pepper.current },
    { projectId: id, label: 'Production server' },
  );
  await addDomain({ db, encrypter: deps.encrypter, mail: deps.mail }, { projectId: id, name: DOMAIN });
  for (const document of TEMPLATES)
    await createTemplate(
      { db, renderer: deps.sendServices.renderer },
      { projectId: id, document, follow: false, actor: 'Ada' },
    );
  for (const audience of AUDIENCES)
    await createAudience({ db, listRuleNeeds }, { projectId: id, ...audience });
  for (const document of RULES) await createRule(db, { projectId: id, document });
  return { project: { ...project, key: { id: key.id, last4: key.secret.slice(-4) } } };
}

/** Deletes all demos with all of their data, and no other project. */
export async function removeDemos(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
): Promise<Project[]> {
  const demos = await listDemos(db);
  for (const { id } of demos) await db.transaction((tx) => deleteProject(tx, id));
  return demos;
}
