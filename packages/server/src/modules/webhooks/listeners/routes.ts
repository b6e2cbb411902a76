import type { ListenedMessage } from '@beckon/contract/dashboard';
import { openListener } from './listener.ts';
import {
  isLocalShell,
  lastHeard,
  serveEvents,
  type RouteRequest,
  routesFor,
  type SENT,
  type KitDeps,
} from '../../workspace/index.ts';
import { followMessages, placeText, readPlace } from '../deliveries/follow-deliveries.ts';
import { messageName } from '../deliveries/webhook.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';

type Deps = KitDeps & { sealer: Sealer };
const { route } = routesFor<Deps>();

/** A program that was away for longer continues from now: a laptop that was closed over night misses nothing. */
const RESUMED_MAX_MS = 24 * 3_600_000;

/** Streams webhooks to a member's own machine. They contain all content, replies too, so the routes require access to that. */
export const listenRoutes = [
  route('POST /projects/:project/listener', {
    needs: 'reviewer',
    scope: 'read',
    audit: 'webhook_listener.open',
    async handle(deps, { projectId, person, note }) {
      const secret = await openListener(deps, { projectId, personId: person.id });
      note({ subject: isLocalShell(person) ? person.name : person.email });
      return { data: { secret } };
    },
  }),
  route('GET /projects/:project/listen', { needs: 'reviewer', scope: 'read', handle: listen }),
];

async function listen(
  deps: Deps,
  asked: RouteRequest<'GET /projects/:project/listen'>,
): Promise<typeof SENT> {
  const { db, log } = deps;
  const { projectId, request } = asked;
  const openedAt = db.clock.now();
  const last = lastHeard(request);
  const place = last === null ? null : readPlace(last);
  const isGap = place !== null && place.createdAt < openedAt - RESUMED_MAX_MS;
  const since = place === null || isGap ? openedAt : place;
  const onTrouble = (trouble: unknown): void =>
    log.warn({ err: trouble, project_id: projectId }, 'webhook_listener.failed');
  async function* events(signal: AbortSignal): AsyncGenerator<string> {
    for await (const some of followMessages({ db, projectId, since, signal, onTrouble }))
      yield some.map((one) => `id: ${placeText(one)}\ndata: ${dataOf(one)}\n\n`).join('');
  }
  return serveEvents(deps, asked, { isGap, place: placeText(since), events });
}

function dataOf({ id, type, body }: ListenedMessage): string {
  return JSON.stringify({ id: messageName(id), type, body } satisfies ListenedMessage);
}
