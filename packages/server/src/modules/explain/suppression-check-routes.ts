import { Type } from 'typebox';
import type { GateSaid, MailableAnswer } from '@beckon/contract/dashboard';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { listRefusedTopics, findTyped, readPlace, shownKind, toListed } from '../outcomes/index.ts';
import type { SuppressionHasher } from '../sending/index.ts';
import { type GateVerdict, type Mailable, wouldBeMailed } from './can-receive-email.ts';
import { type DashboardRoute, routesFor, type KitDeps } from '../workspace/index.ts';
import type { Mailroom } from '../delivery/index.ts';

type Deps = KitDeps & { hasher: SuppressionHasher; mailroom: Mailroom };
const { route } = routesFor<Deps>();

export const suppressionCheckRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/suppressions/check', {
    needs: 'viewer',
    query: Type.Object({
      email: Type.Optional(Type.String({ maxLength: 1_000 })),
      user: Type.Optional(Type.String({ maxLength: 1_000 })),
    }),
    async handle({ db, mailroom, access, hasher }, { projectId, query }) {
      const place = readPlace(projectId, query);
      const now = db.clock.now();
      const { people, isCut } = await wouldBeMailed(db, { place, now, mailroom });
      const { suppression, lift, places } = await findTyped(db, hasher, place);
      const actors = [suppression?.createdBy, lift?.liftedBy].flatMap((actor) => actor ?? []);
      const names = await access.namesOf(actors);
      const shown = people.map(toShown);
      const data: MailableAnswer = {
        kind: shownKind(place.kind),
        value: place.value,
        can_receive: shown.length === 0 ? null : shown.some(({ can_receive: mailed }) => mailed),
        suppression: suppression ? toListed(suppression, names, now) : null,
        lifted: lift
          ? {
              reason: lift.reason,
              lifted_at: iso(lift.liftedAt),
              lifted_by_name: names.get(lift.liftedBy) ?? lift.liftedBy,
            }
          : null,
        unsubscribed_topics: await listRefusedTopics(db, places),
        users: shown,
        truncated: isCut,
      };
      return { data };
    },
  }),
];

function toShown({ person, address, gates, topicsRefused }: Mailable): MailableAnswer['users'][number] {
  return {
    external_user_id: person.userId,
    address,
    can_receive: gates.every(({ passes }) => passes),
    checks: gates.map(toSaid),
    unsubscribed_topics: topicsRefused,
  };
}

function toSaid({ check, passes, words, until }: GateVerdict): GateSaid {
  return { check, passes, text: words, until: isoOrNull(until) };
}
