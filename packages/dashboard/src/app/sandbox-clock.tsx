import { Button, Group, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FastForward } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useApi, useChange, useMay, useProject, useRefreshAll } from '../api/index.ts';
import { AheadProvider, formatSpan, formatTime, refused, told, useNow, useZone } from '../parts/index.ts';

const STEPS = [
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

/** What time it is in this sandbox, and how to let some of it pass. */
export function SandboxClock(): ReactNode {
  const { id, ahead_ms: aheadMs } = useProject();
  const mayAdvance = useMay('editor');
  useMovedByOthers(aheadMs);
  return (
    <Group justify="space-between" gap="xs">
      <span>
        Sandbox: nothing leaves this machine. It is{' '}
        <AheadProvider ms={aheadMs}>
          <Clock />
        </AheadProvider>
        {aheadMs > 0 ? `, ${formatSpan(aheadMs)} ahead` : ''}.{' '}
        <Link to="/p/$project/test-inbox" params={{ project: String(id) }}>
          See the letters
        </Link>
      </span>
      {mayAdvance && <Advance />}
    </Group>
  );
}

const LOOK_EVERY_MS = 5_000;

/** A test somewhere else may move it too: then everything that is shown here is of another time. */
function useMovedByOthers(knownMs: number): void {
  const refreshAll = useRefreshAll();
  const clock = useApi('GET /projects/:project/clock', {}, { everyMs: LOOK_EVERY_MS });
  const aheadMs = clock.data?.data.ahead_ms ?? knownMs;
  useEffect(() => {
    if (aheadMs > knownMs) void refreshAll();
  }, [aheadMs, knownMs, refreshAll]);
}

function Clock(): ReactNode {
  const now = new Date(useNow()).toISOString();
  return <time dateTime={now}>{formatTime(now, useZone())}</time>;
}

function Advance(): ReactNode {
  const refreshAll = useRefreshAll();
  const advance = useChange('POST /projects/:project/clock', {
    onDone: ({ data: { drafts, emails: letters } }) => {
      told(
        `Time passed: ${counted(drafts, 'draft')} made, ${counted(letters, 'letter')} left for the outbox`,
      );
      void refreshAll();
    },
    onRefused: (error) => {
      refused(error);
      void refreshAll();
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          size="compact-xs"
          variant="default"
          loading={advance.isPending}
          leftSection={<FastForward size={13} aria-hidden="true" />}
        >
          Advance the clock
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {STEPS.map(([text, words]) => (
          <Menu.Item key={text} onClick={() => advance.mutate({ body: { advance: text } })}>
            {words}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
