import { Stack } from '@mantine/core';
import type { EmailWhole, EmailHit } from '@beckon/contract/dashboard';
import { Bot, Clock, User } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty, Mark, When } from '../../parts/index.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

const KINDS: Record<EmailHit['kind'], string> = {
  open: 'Image loaded',
  click: 'Link followed',
  trap: 'Hidden link followed',
};

/** The outcomes of an email, and each request behind them with its classification as human or bot. */
export function Happened({ email }: { email: EmailWhole }): ReactNode {
  const { outcome_history: outcomes, hits, links } = email;
  if (outcomes.length === 0 && hits.length === 0 && links.length === 0)
    return (
      <Empty title="No outcomes yet">
        Opens, clicks, replies and bounces appear here. Each request is classified as human or bot after ten
        seconds.
      </Empty>
    );
  return (
    <Stack gap="xl">
      {outcomes.length > 0 && <Outcomes email={email} />}
      {links.length > 0 && <Links links={links} />}
      {hits.length > 0 && <Hits email={email} />}
    </Stack>
  );
}

function Outcomes({ email }: { email: EmailWhole }): ReactNode {
  return (
    <Titled title="Outcomes">
      <SmallTable
        aria-label="Outcomes"
        heads={['When', 'Type']}
        rows={email.outcome_history.map(({ id, occurred_at: at, text: words }) => ({
          key: id,
          cells: [<When at={at} theirZone={email.user_time_zone} />, words],
        }))}
      />
    </Titled>
  );
}

function Links({ links }: { links: EmailWhole['links'] }): ReactNode {
  return (
    <Titled title="Links">
      <SmallTable
        aria-label="Links of the email"
        layout="fixed"
        heads={[
          { title: 'URL', w: '60%', wraps: true },
          { title: 'By humans', ta: 'right' },
          { title: 'By bots', ta: 'right' },
        ]}
        rows={links.map(({ url, clicks, bot_clicks: machines }, at) => ({
          key: `${at} ${url}`,
          cells: [url, clicks, machines],
        }))}
      />
    </Titled>
  );
}

function Hits({
  email: { hits, hit_count: counted, user_time_zone: zone },
}: {
  email: EmailWhole;
}): ReactNode {
  return (
    <Titled title="Opens and clicks" gap={4}>
      {counted > hits.length && (
        <Muted mb="xs">
          {counted.toLocaleString('en-GB')} in total. At most {hits.length} are stored; newer requests replace
          classified ones.
        </Muted>
      )}
      <SmallTable
        aria-label="Opens and clicks"
        layout="fixed"
        heads={[
          'When',
          { title: 'Type', wraps: true },
          'Classification',
          { title: 'User agent', visibleFrom: 'sm', wraps: true },
        ]}
        rows={hits.map((hit) => ({
          key: String(hit.number),
          cells: [
            <When at={hit.at} theirZone={zone} />,
            <>
              {KINDS[hit.kind]}
              {hit.url !== null && <Muted size="xs">{hit.url}</Muted>}
            </>,
            <Classification hit={hit} />,
            <Muted size="xs">{hit.agent ?? 'not stored'}</Muted>,
          ],
        }))}
      />
    </Titled>
  );
}

function Classification({ hit: { bot, reason_text: why } }: { hit: EmailHit }): ReactNode {
  return (
    <Stack gap={0}>
      {bot === null && <Mark icon={Clock} tone="quiet" label="Being classified" />}
      {bot === 'no' && <Mark icon={User} tone="good" label="Human" />}
      {bot === 'probable' && <Mark icon={Bot} tone="quiet" label="Probably a bot" />}
      {bot === 'yes' && <Mark icon={Bot} tone="quiet" label="Bot" />}
      {why !== null && <Muted size="xs">{why}</Muted>}
    </Stack>
  );
}
