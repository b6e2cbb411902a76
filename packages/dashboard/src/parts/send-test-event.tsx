import { Text } from '@mantine/core';
import { Send } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange, useFeed, useMay, useRefresh } from '../api/index.ts';
import { ActButton } from './act-button.tsx';
import { notify, refused } from './notices.tsx';
import { useSample } from './use-sample.ts';

/** The lists that show the event, its user or its draft. */
const SHOWN = [
  'GET /projects/:project/home',
  'GET /projects/:project/events',
  'GET /projects/:project/users',
  'GET /projects/:project/test-inbox',
  'GET /projects/:project/test-inbox/state',
] as const;

/** Sends a sign-up event of a new sample user with the member's own address, without a shell. */
export function SendTestEvent({ isMain = false }: { isMain?: boolean }): ReactNode {
  const maySend = useMay('editor');
  const { email } = useSample();
  const refresh = useRefresh();
  // The event is processed after the response.
  useFeed(
    ({ type }) => type === 'event' || type === 'draft',
    () => void refresh(...SHOWN),
    { everything: true },
  );
  const send = useChange('POST /projects/:project/test-event', {
    onDone: ({ data }) =>
      notify(
        `Event ${data.event} accepted for the sample user ${data.external_user_id}. Drafts follow in Review.`,
      ),
    onRefused: (error) => refused(error, 'Test event not sent'),
  });
  if (!maySend) return null;
  return (
    <>
      <ActButton
        icon={Send}
        change={send}
        variant={isMain ? 'filled' : 'default'}
        size="sm"
        onClick={() => send.mutate({})}
      >
        Send a test event
      </ActButton>
      <Text size="xs" c="dimmed">
        Signs up a sample user with your address, {email}.
      </Text>
    </>
  );
}
