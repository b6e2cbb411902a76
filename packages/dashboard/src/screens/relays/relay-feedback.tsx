import type { Relay, RelayFeedback as Feedback } from '@beckon/contract/dashboard';
import { Alert, Group, Stack, Text, TextInput } from '@mantine/core';
import { CircleCheck, CircleDashed, Download, Send, TriangleAlert, Webhook } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useChange } from '../../api/index.ts';
import { Command, ErrorBox, Loaded, Mark, notify, refused, When } from '../../parts/index.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { textProps } from '../../parts/bind.ts';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';

type Props = { relay: Relay; mayChange: boolean };

/** How bounces and complaints of a relay reach Beckon, and whether one ever did. */
export function RelayFeedback({ relay, mayChange }: Props): ReactNode {
  const params = { relay: relay.id };
  const query = useApi('GET /projects/:project/relays/:relay/feedback', { params }, { everyMs: 10_000 });
  return (
    <Section title="Feedback" text="How bounces and complaints of this relay reach Beckon.">
      <Loaded query={query}>
        {({ data }) => (
          <Stack gap="md">
            <FeedbackState feedback={data} />
            {data.provider === null ? (
              <Text size="sm">{unknownProvider(relay)}</Text>
            ) : (
              <ByProvider relay={{ ...relay, title: data.provider }} feedback={data} mayChange={mayChange} />
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function unknownProvider({ kind }: Relay): string {
  return kind === 'smtp_url'
    ? 'SMTP_URL names another provider now. Delete this feedback, and add that of the new provider.'
    : 'The host of this relay belongs to no provider that Beckon knows, so its bounces arrive by email to MAIL_DOMAIN. ' +
        'If your provider replaces the return path, they never do.';
}

type ByProviderProps = Props & { feedback: Feedback };

function ByProvider({ relay, feedback, mayChange }: ByProviderProps): ReactNode {
  const { webhook, pull, by_smtp: bySmtp, api_needs: needs } = feedback;
  return (
    <>
      {bySmtp && (
        <Text size="sm">
          Emails are still sent by SMTP. Each one has a header with its signed ID, which {relay.title} returns
          with every event.
        </Text>
      )}
      {webhook && <WebhookSetup relay={relay} webhook={webhook} pull={pull} mayChange={mayChange} />}
      {needs.length > 0 && mayChange && (
        <Muted>
          With more settings below, Beckon can create the webhook and use the lists of {relay.title}:{' '}
          {needs.join(', ')}.
        </Muted>
      )}
      <Proof relay={relay} feedback={feedback} />
      {feedback.can_import_suppressions && <SuppressionImport relay={relay} />}
    </>
  );
}

function FeedbackState({ feedback: { proven_at: provenAt } }: { feedback: Feedback }): ReactNode {
  if (provenAt !== null)
    return (
      <Group gap="xs">
        <Mark icon={CircleCheck} tone="good" label="Proven" />
        <Muted>
          First bounce or complaint received <When at={provenAt} style="relative" />
        </Muted>
      </Group>
    );
  return (
    <Alert
      variant="outline"
      color="yellow"
      icon={<TriangleAlert size={18} aria-hidden="true" />}
      title="Not proven yet"
    >
      No bounce has come back through this relay. Until one does, Beckon may miss bounces and complaints:
      their addresses are not suppressed, and no <code>email.bounced</code> reaches your webhooks.
    </Alert>
  );
}

type WebhookProps = Props & { webhook: NonNullable<Feedback['webhook']>; pull: Feedback['pull'] };

function WebhookSetup({ relay, webhook, pull, mayChange }: WebhookProps): ReactNode {
  const register = useChange('POST /projects/:project/relays/:relay/feedback/webhook', {
    refreshes: [
      'GET /projects/:project/relays/:relay/feedback',
      'GET /projects/:project/relays/:relay',
      'GET /projects/:project/relays',
    ],
    onDone: () => notify(`The webhook was created at ${relay.title}.`),
    onRefused: (error) => refused(error),
  });
  return (
    <Stack gap="sm">
      {pull === 'on' && (
        <Group gap="xs">
          <Mark icon={CircleCheck} tone="good" label="Events are read" />
          <Muted>Beckon reads the events of {relay.title} every 30 seconds.</Muted>
        </Group>
      )}
      <Text size="sm" fw={500}>
        Webhook at {relay.title}
      </Text>
      <Command text={webhook.url} what="webhook URL" />
      <Muted>Events: {webhook.events.join(', ')}</Muted>
      {webhook.is_local && (
        <Muted>
          The address of this installation is local, so {relay.title} cannot reach it. Set PUBLIC_URL.
        </Muted>
      )}
      {webhook.missing && (
        <Group gap="xs">
          <Mark icon={CircleDashed} tone="warn" label={`${webhook.missing.label} is missing`} />
          <Muted>
            Requests are refused until it is set
            {webhook.can_register ? '. Creating the webhook here sets it.' : ' under Settings below.'}
          </Muted>
        </Group>
      )}
      {webhook.can_register && mayChange && (
        <Group>
          <ActButton
            icon={Webhook}
            change={register}
            onClick={() => register.mutate({ params: { relay: relay.id } })}
          >
            Create webhook at {relay.title}
          </ActButton>
        </Group>
      )}
    </Stack>
  );
}

/** Addresses that the provider does not send to are suppressed here as well. */
function SuppressionImport({ relay }: { relay: Relay }): ReactNode {
  const change = useChange('POST /projects/:project/relays/:relay/suppressions', {
    refreshes: ['GET /projects/:project/suppressions'],
    onDone: ({ data: { rows, added } }) =>
      notify(`${rows} addresses read, ${added} of them newly suppressed.`),
    onRefused: (error) => refused(error),
  });
  return (
    <Stack gap="sm">
      <Text size="sm" fw={500}>
        Suppression list of {relay.title}
      </Text>
      <Muted>
        {relay.title} sends nothing to these addresses. Import them, so that no draft is written for them.
      </Muted>
      <Group>
        <ActButton
          icon={Download}
          change={change}
          onClick={() => change.mutate({ params: { relay: relay.id } })}
        >
          Import suppression list
        </ActButton>
      </Group>
    </Stack>
  );
}

function Proof({ relay, feedback: { simulator } }: { relay: Relay; feedback: Feedback }): ReactNode {
  const [address, setAddress] = useState('');
  const prove = useChange('POST /projects/:project/relays/:relay/feedback/proof', {
    refreshes: ['GET /projects/:project/relays/:relay/feedback'],
    onDone: ({ data }) => notify(`Sent to ${data.to}. The state changes when its bounce comes back.`),
  });
  const { error } = prove;
  return (
    <Stack gap="sm">
      <Text size="sm" fw={500}>
        Prove feedback
      </Text>
      <Muted>
        {simulator === null
          ? `${relay.title} simulates no bounce. Beckon sends one email to an address that does not exist.`
          : `Beckon sends one email to ${simulator}, which bounces.`}
      </Muted>
      {simulator === null && (
        <TextInput
          label="Address that does not exist"
          description="At a domain of your own, such as unused@example.com."
          {...textProps(address, setAddress)}
          error={error?.fields['address']}
        />
      )}
      {error && error.fields['address'] === undefined && <ErrorBox error={error} />}
      <Group>
        <ActButton
          icon={Send}
          change={prove}
          disabled={simulator === null && address.trim() === ''}
          onClick={() =>
            prove.mutate({
              params: { relay: relay.id },
              body: simulator === null ? { address: address.trim() } : {},
            })
          }
        >
          Send email that bounces
        </ActButton>
      </Group>
    </Stack>
  );
}
