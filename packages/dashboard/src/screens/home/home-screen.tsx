import { Skeleton, Stack } from '@mantine/core';
import type { Home } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi, useFeed, useRefresh } from '../../api/index.ts';
import { Loaded, Page } from '../../parts/index.ts';
import { FirstEmail } from './first-email.tsx';
import { HealthStrip } from './health.tsx';
import { Needs } from './needs.tsx';
import { Numbers } from './numbers.tsx';
import { Setup } from './setup.tsx';
import { Titled } from '../../parts/titled.tsx';

const REFRESH_MS = 30_000;

/** Problems that need attention, then the numbers. A project that has sent no email has no numbers yet. */
export function HomeScreen(): ReactNode {
  const query = useApi('GET /projects/:project/home', {}, { everyMs: REFRESH_MS });
  const isNew = query.data !== undefined && query.data.data.setup !== null;
  const refresh = useRefresh();
  // During set-up the first event and the first draft appear immediately.
  useFeed(
    () => isNew,
    () => void refresh('GET /projects/:project/home'),
  );
  return (
    <Page title="Home">
      <Loaded query={query} skeleton={<HomeSkeleton />}>
        {({ data }) => <Now home={data} />}
      </Loaded>
      {/* Loaded beside the rest of the page, unless it is known that no email was sent yet. */}
      {hasSent(query.data?.data) !== false && <Numbers />}
      {query.data && <HealthStrip health={query.data.data.health} />}
    </Page>
  );
}

function hasSent(home: Home | undefined): boolean | undefined {
  if (home === undefined || home.setup === null) return home && true;
  return home.setup.some(({ id, done }) => id === 'first_email' && done);
}

function Now({ home }: { home: Home }): ReactNode {
  const { first_email: first, needs, setup, health } = home;
  return (
    <Stack gap="lg">
      {first && <FirstEmail email={first} isTestInbox={health.sender.test_inbox} />}
      {(setup === null || needs.length > 0) && (
        <Titled id="needs-title" title="Needs attention">
          <Needs needs={needs} />
        </Titled>
      )}
      {setup && <Setup steps={setup} first={first} />}
    </Stack>
  );
}

function HomeSkeleton(): ReactNode {
  return (
    <Stack gap="lg">
      <Skeleton height={120} />
      <Skeleton height={62} />
    </Stack>
  );
}
