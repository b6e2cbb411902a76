import type { SendCheckEntry, CanReceiveResult } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { findTypedEntry, readTarget, listedKind, listedSuppression } from '../outcomes/index.ts';
import type { SuppressionHasher, SuppressionTarget } from '../sending/index.ts';
import { type SendCheckResult, type Recipient, checkRecipients } from './can-receive-email.ts';
import { type DashboardRoute, routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { plainList } from '../../platform/db/list.ts';

type Deps = KitDeps & { hasher: SuppressionHasher; sendServices: SendServices };
const { route } = routesFor<Deps>();

export const suppressionCheckRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/suppressions/check', {
    needs: 'viewer',
    async handle({ db, sendServices, access, hasher }, { projectId, query }) {
      const target = readTarget(projectId, query);
      const now = db.clock.now();
      const { people, isCut } = await checkRecipients(db, { target, now, sendServices });
      const { suppression, lift, targets } = await findTypedEntry(db, hasher, target);
      const actors = [suppression?.createdBy, lift?.liftedBy].flatMap((actor) => actor ?? []);
      const names = await access.namesOf(actors);
      const users = people.map(userChecks);
      const data: CanReceiveResult = {
        kind: listedKind(target.kind),
        value: target.value,
        can_receive: users.length === 0 ? null : users.some(({ can_receive: mailed }) => mailed),
        suppression: suppression ? listedSuppression(suppression, names, now) : null,
        lifted: lift
          ? {
              reason: lift.reason,
              lifted_at: iso(lift.liftedAt),
              lifted_by_name: names.get(lift.liftedBy) ?? lift.liftedBy,
            }
          : null,
        unsubscribed_topics: await listRefusedTopics(db, targets),
        users: users,
        truncated: isCut,
      };
      return { data };
    },
  }),
];

function userChecks({ person, address, gates, topicsRefused }: Recipient): CanReceiveResult['users'][number] {
  return {
    external_user_id: person.userId,
    address,
    can_receive: gates.every(({ passes }) => passes),
    checks: gates.map(checkResult),
    unsubscribed_topics: topicsRefused,
  };
}

function checkResult({ check, passes, words, until }: SendCheckResult): SendCheckEntry {
  return { check, passes, text: words, until: isoOrNull(until) };
}

/** Returns the topics refused at one of these places, including hashed ones. Reads a table of the outcomes module. */
async function listRefusedTopics(tx: Tx, targets: SuppressionTarget[]): Promise<string[]> {
  const rows = await tx.query<{ topic: string }>(
    `SELECT DISTINCT topic FROM beckon.topic_unsubscribe
     WHERE (project_id, kind, value) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])) ORDER BY topic`,
    [
      plainList(targets.map(({ projectId }) => projectId)),
      targets.map(({ kind }) => kind),
      targets.map(({ value }) => value),
    ],
  );
  return rows.map(({ topic }) => topic);
}
