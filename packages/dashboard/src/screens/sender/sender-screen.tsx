import { SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import type { SendingState } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { Loaded, Page, SaveBar } from '../../parts/index.ts';
import type { SettingField } from '../../parts/policy-fields.tsx';
import { Section } from '../../parts/section.tsx';
import { fieldOf, type SettingsForm, useSettingsForm } from '../../parts/settings-form.ts';
import { TextLink } from '../../parts/text-link.tsx';
import { PlusAddressingField, RepliesState, TeamField, TrackingField } from './tracking-fields.tsx';
import { addressHint, LineField } from './identity-fields.tsx';
import { LanguageField } from './language-field.tsx';
import { TopicsField } from './topics-field.tsx';
import { SendingStatus } from './verdict.tsx';

/** The project's sender, replies, topics and tracking. */
export function SenderScreen(): ReactNode {
  const form = useSettingsForm();
  const sending = useApi('GET /projects/:project/sending', {});
  return (
    <Page title="Sender">
      <Stack gap="lg" maw={860}>
        <Loaded query={sending} skeleton={<Skeleton height={150} />}>
          {({ data }) => <SendingStatus sending={data} />}
        </Loaded>
        <Loaded query={form.query} skeleton={<FormSkeleton />}>
          {() => <SenderForm form={form} sending={sending.data?.data} />}
        </Loaded>
      </Stack>
    </Page>
  );
}

type Props = { form: SettingsForm; sending: SendingState | undefined };

function SenderForm({ form, sending }: Props): ReactNode {
  const mayChange = useMay('admin');
  const field = (name: string): SettingField => fieldOf(form, name, !mayChange);
  return (
    <>
      {!mayChange && <Text c="dimmed">You can view the sender. Changing it requires the admin role.</Text>}
      <Identity field={field} sending={sending} />
      <Section title="Replies" text="A reply ends the user’s sequence and is sent to your webhooks.">
        <Stack gap="md">
          <LineField label="Reply-to address" placeholder="team@example.com" {...field('reply_to')} />
          <LineField
            label="Forward replies to"
            description="Replies then arrive at this installation first, which matches them to users."
            placeholder="team@example.com"
            {...field('reply_forward_to')}
          />
          <PlusAddressingField
            {...field('reply_plus_addressing')}
            isTooLong={sending?.replies.address_too_long ?? false}
          />
          {sending && <RepliesState replies={sending.replies} />}
          {mayChange && (
            <TextLink size="sm" to="/p/$project/settings/reply-source">
              {sending?.replies.source ? 'Show reply source' : 'Set up reply source'}
            </TextLink>
          )}
        </Stack>
      </Section>
      <Section
        title="Topics"
        text="Rules can assign a topic to their emails. Recipients choose topics on the email preferences page."
      >
        <TopicsField {...field('topics')} />
      </Section>
      <Section title="Tracking" text="Unsubscribes and bounces are always recorded.">
        <TrackingField {...field('tracking')} />
      </Section>
      <Section title="Team digest">
        <TeamField {...field('team_addresses')} />
      </Section>
      <SaveBar dirty={form.dirty} saving={form.saving} onSave={form.save} onDiscard={form.discard} />
    </>
  );
}

function Identity({
  field,
  sending,
}: {
  field: (name: string) => SettingField;
  sending: SendingState | undefined;
}): ReactNode {
  const address = field('from_address');
  return (
    <Section
      title="From"
      text="Name, address and postal address are required. Without them, all emails are held."
    >
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <LineField
            label="Name"
            description="Shown beside the address."
            placeholder="Ada of Acme"
            {...field('from_name')}
          />
          <LineField
            label="Address"
            placeholder="ada@mail.example.com"
            description={addressHint(address.text, sending?.domains ?? [])}
            {...address}
          />
        </SimpleGrid>
        <LineField
          label="Postal address"
          description="Shown in the footer of every email. Many countries require it."
          placeholder="Acme, 1 High Street, 12345 Town"
          {...field('postal_address')}
        />
        <LineField
          label="Footer"
          description="An additional line in the footer of every email."
          {...field('footer')}
        />
        <LanguageField {...field('language')} />
      </Stack>
    </Section>
  );
}

function FormSkeleton(): ReactNode {
  return (
    <>
      <Skeleton height={320} />
      <Skeleton height={220} />
      <Skeleton height={110} />
      <Skeleton height={150} />
    </>
  );
}
