import { createServer } from 'node:http';
import { idMaker } from '../../../packages/server/src/platform/ids.ts';
import { systemClock } from '../../../packages/server/src/platform/time/clock.ts';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { createModels } from '../../../packages/server/src/modules/rules/project-model.ts';
import type { DueDraftSender, SentBatch } from '../../../packages/server/src/modules/delivery/send-email.ts';
import { recordResults } from '../../../packages/server/src/modules/delivery/record-results.ts';
import { claimBatch } from '../../../packages/server/src/modules/delivery/claim-batch.ts';
import { openDatabase } from '../../../packages/server/src/platform/db/database.ts';
import { testSendServices } from '../../../packages/server/testing/factories/send-services.ts';
import { startSender } from '../../../packages/server/src/modules/delivery/sender.ts';
import type { EmailResult } from '../../../packages/server/src/modules/delivery/transport.ts';
import { roomFor, type SendDeps } from '../../../packages/server/src/modules/delivery/draft-batch.ts';

/**
 * The sender of a worker in a process of its own, without a relay. A claimed email counts as sent at once and is recorded so. `bench --
 * send` measures the rest. It is idle until `POST /begin` and again after `POST /rest`, so that a warm process can be left out of a run.
 */
const db = await openDatabase({
  connection: () => ({ connectionString: process.env['DATABASE_URL'] }),
  clock: systemClock,
  log: silentLog,
});
let submitted = 0;
const deps: SendDeps = {
  db,
  newId: idMaker(db.clock),
  models: createModels(db.clock),
  sendServices: testSendServices(),
  togetherMs: 100,
};
const ROOM = 500;

async function begin(projectId: number): Promise<SentBatch> {
  const { emails, drafts, lateMs } = await claimBatch(deps, projectId, roomFor(ROOM));
  submitted += emails.length;
  const results = emails.map((email): EmailResult => ({ email, sendResult: { result: 'sent' } }));
  if (results.length > 0) await recordResults(deps, results);
  return { drafts, emails: emails.length, lateMs, completion: Promise.resolve() };
}

const sender: DueDraftSender = {
  begin,
  batch: begin,
  maySend: () => Promise.resolve(true),
  closedUntil: () => Promise.resolve(null),
  mayClaim: () => true,
  capacity: () => ROOM,
  giveUp: () => Promise.resolve(0),
  askAgain: () => Promise.resolve(0),
  stop: () => {},
};
let running: ReturnType<typeof startSender> | null = null;

async function handleCommand(place: string | undefined): Promise<void> {
  if (place === '/begin') running ??= startSender({ db, sender, log: silentLog });
  if (place !== '/rest') return;
  await running?.stop();
  running = null;
}

const server = createServer((request, response) => {
  void handleCommand(request.url).then(() => response.end(JSON.stringify({ submitted })));
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
  void handleCommand('/rest').then(() => db.close());
});
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.stdout.write('ready\n'));
