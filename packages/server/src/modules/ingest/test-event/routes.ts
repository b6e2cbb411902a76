import { Fault } from '../../../platform/fault.ts';
import { countWithin, isLocalShell, type KitDeps, routesFor } from '../../workspace/index.ts';
import { sendTestEvent, TEST_EVENT } from './send-test-event.ts';

type Deps = KitDeps & { wake: () => void };
const { route } = routesFor<Deps>();

/** Per member and project, in 15 minutes. */
const TEST_EVENTS_MAX = 20;
const SUFFIX_CHARS = 8;

export const testEventRoutes = [
  route('POST /projects/:project/test-event', {
    needs: 'editor',
    audit: 'event.send_test',
    async handle(deps, { projectId, member, note }) {
      const { db, newId, wake } = deps;
      // Drafts and emails go to the member's own address, and the local shell has none.
      if (isLocalShell(member)) throw hasNoAddress();
      await countWithin(deps, [{ key: `test event ${projectId} ${member.id}`, most: TEST_EVENTS_MAX }]);
      // A new user each time: the built-in rules enroll a user once.
      const userId = `test_user_${newId().slice(-SUFFIX_CHARS)}`;
      await sendTestEvent(db, { projectId, userId, email: member.email, name: member.name });
      wake();
      note({ subject: TEST_EVENT });
      return { data: { external_user_id: userId, email: member.email, event: TEST_EVENT } };
    },
  }),
];

function hasNoAddress(): Fault {
  const message = 'A test event needs the address of a member. Send it from the dashboard';
  return new Fault('conflict', { details: [{ message, field: 'project' }] });
}
