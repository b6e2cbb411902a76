import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Samples, type SamplesProps } from './samples.tsx';
import { SendTestEvent } from './send-test-event.tsx';

type Props = SamplesProps & { align?: 'center' | 'start' };

/** For empty states: a button that sends an event, and sample calls to send one from a server. */
export function FirstEvent({ align = 'center', ...samples }: Props): ReactNode {
  return (
    <Stack align={align} gap="sm" w="100%" mt="xs">
      <Stack align={align} gap={4}>
        <SendTestEvent />
      </Stack>
      <Samples {...samples} />
    </Stack>
  );
}
