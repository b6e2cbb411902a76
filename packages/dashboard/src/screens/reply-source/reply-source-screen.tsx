import type { ReplySource, ReplySourceSetup } from '@beckon/contract/dashboard';
import { Alert, Menu, Stack, Text } from '@mantine/core';
import { CircleCheck, CircleDashed, CircleX, Info, PlugZap, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import {
  ConfirmTyped,
  later,
  Loaded,
  Mark,
  type MarkProps,
  notify,
  Page,
  refused,
  When,
} from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { MoreMenu } from '../../parts/more-menu.tsx';
import { Notice } from '../../parts/notice.tsx';
import { SourceAddress } from './source-address.tsx';
import { SourceCounts } from './source-counts.tsx';

const SourceForm = later(() => import('./source-form.tsx'), 'SourceForm');

const SETUP = 'GET /projects/:project/reply-source';

/** Where the project receives replies without port 25. */
export function ReplySourceScreen(): ReactNode {
  const query = useApi(SETUP, {}, { everyMs: 15_000 });
  const source = query.data?.data.source;
  return (
    <Page
      title="Reply source"
      beside={source && <Mark {...stateOf(source)} />}
      actions={source ? <SourceActs source={source} /> : undefined}
    >
      <Loaded query={query}>{({ data }) => <Setup setup={data} />}</Loaded>
    </Page>
  );
}

function Setup({ setup }: { setup: ReplySourceSetup }): ReactNode {
  const { source, inside } = setup;
  if (inside)
    return (
      <Notice icon={Info} title="Emails of this project stay in the test inbox">
        A demo or sandbox project has no reply source. Reply to an email in the test inbox instead.
      </Notice>
    );
  return (
    <Stack gap="lg" maw={860}>
      {source ? (
        <>
          <Trouble source={source} />
          <Facts facts={factsOf(source)} />
          <SourceAddress source={source} />
          <SourceCounts source={source} />
        </>
      ) : (
        <Notice icon={Info} title="No reply source yet">
          A reply source brings replies to Beckon without port 25: a mailbox that Beckon reads, or a service
          that posts emails. A reply ends the user’s sequence and is sent to your webhooks.
        </Notice>
      )}
      <SourceForm key={source?.changed_at ?? 'new'} setup={setup} />
    </Stack>
  );
}

function stateOf({ failure, read_at: readAt }: ReplySource): MarkProps {
  if (failure !== null) return { icon: CircleX, tone: 'bad', label: 'Failing' };
  if (readAt === null) return { icon: CircleDashed, tone: 'info', label: 'Nothing received yet' };
  return { icon: CircleCheck, tone: 'good', label: 'Working' };
}

function Trouble({ source: { kind, failure, failing_since: since } }: { source: ReplySource }): ReactNode {
  if (failure === null) return null;
  return (
    <Alert
      variant="outline"
      color="red"
      icon={<TriangleAlert size={18} aria-hidden="true" />}
      title={kind === 'imap' ? 'The mailbox cannot be read' : 'The last email could not be received'}
    >
      <Stack gap={4}>
        <Text size="sm">{failure}</Text>
        <Text size="sm">
          It failed first <When at={since} style="relative" />.{' '}
          {kind === 'imap'
            ? 'No reply is lost: Beckon continues where it stopped.'
            : 'The service was asked to send the email again.'}
        </Text>
      </Stack>
    </Alert>
  );
}

function factsOf({ kind, title, settings, read_at: readAt, changed_at: changedAt }: ReplySource) {
  const mailbox = kind === 'imap' ? [{ label: 'Mailbox', value: settings['username'] ?? '' }] : [];
  return [
    { label: 'Kind', value: title },
    ...mailbox,
    {
      label: kind === 'imap' ? 'Last read' : 'Last email',
      value: <When at={readAt} style="relative" none="never" />,
    },
    { label: 'Settings changed', value: <When at={changedAt} style="relative" /> },
  ];
}

function SourceActs({ source: { kind, title } }: { source: ReplySource }): ReactNode {
  const [isRemoving, setIsRemoving] = useState(false);
  const test = useChange('POST /projects/:project/reply-source/test', {
    onDone: ({ data }) => notify(data.ok ? `Test passed. ${data.message}` : `Test failed. ${data.message}`),
    onRefused: (error) => refused(error),
  });
  const remove = useChange('DELETE /projects/:project/reply-source', {
    refreshes: [SETUP, 'GET /projects/:project/sending'],
    onDone: () => {
      setIsRemoving(false);
      notify('Reply source deleted');
    },
  });
  return (
    <>
      {kind === 'imap' && (
        <ActButton icon={PlugZap} change={test} onClick={() => test.mutate({})}>
          Test
        </ActButton>
      )}
      <MoreMenu>
        <Menu.Item c="var(--mantine-color-error)" onClick={() => setIsRemoving(true)}>
          Delete…
        </Menu.Item>
      </MoreMenu>
      <ConfirmTyped
        opened={isRemoving}
        onClose={() => setIsRemoving(false)}
        title="Delete reply source"
        name={title}
        action="Delete"
        run={() => remove.mutate({})}
        change={remove}
      >
        Beckon receives no replies from it any more. The mailbox and its emails stay as they are.
      </ConfirmTyped>
    </>
  );
}
