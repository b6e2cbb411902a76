import { useProject } from './project.ts';
import { useApi } from './query.ts';
import { useSession } from './session.ts';

const STALE_MS = 60_000;

/** Whether emails of this project are captured because neither the installation nor the project has a relay. */
export function useTestInbox(): boolean {
  const { demo, livemode } = useProject();
  const isInstallation = useSession().data?.data.installation.test_inbox === true;
  const sending = useApi(
    'GET /projects/:project/sending',
    {},
    { enabled: isInstallation && livemode && !demo, staleTimeMs: STALE_MS },
  );
  return isInstallation && sending.data?.data.sender.test_inbox === true;
}
