import { Button, Stack } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useMay } from '../../api/index.ts';
import { Loaded, Page } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { Invites } from './invites.tsx';
import { Members } from './members.tsx';
import { Organization } from './organization.tsx';

/** The members of the project's organization, with their roles in all of its projects. */
export function TeamScreen(): ReactNode {
  const [isInviting, setInviting] = useState(false);
  const mayManage = useMay('admin');
  const organization = useApi('GET /projects/:project/organization', {});
  return (
    <Page
      title="Team"
      actions={
        mayManage && (
          <Button leftSection={<UserPlus size={16} aria-hidden="true" />} onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      <Stack gap="md">
        <Section title="Members" text="Roles apply to all projects of the organization.">
          <Members />
        </Section>
        {mayManage && (
          <Section title="Open invitations">
            <Invites onInvite={() => setInviting(true)} />
          </Section>
        )}
        <Section title="Organization">
          <Loaded query={organization}>
            {({ data }) => <Organization key={data.name} organization={data} />}
          </Loaded>
        </Section>
      </Stack>
      <InviteDialog opened={isInviting} onClose={() => setInviting(false)} />
    </Page>
  );
}
