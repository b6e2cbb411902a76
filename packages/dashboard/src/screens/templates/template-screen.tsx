import { Alert, Button, Group, Tabs, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EmailSource, TemplateDetails } from '@beckon/contract/dashboard';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { Loaded, Page, When } from '../../parts/index.ts';
import { EmailEditor } from './email-editor.tsx';
import { TemplateActions } from './template-actions.tsx';
import { TemplateVersions } from './versions.tsx';

const route = getRouteApi('/p/$project/templates/$template');

export function TemplateScreen(): ReactNode {
  const { template: name } = route.useParams();
  const { tab } = route.useSearch();
  const isNew = tab === 'new';
  const template = useApi(
    'GET /projects/:project/templates/:template',
    { params: { template: name } },
    { enabled: !isNew },
  );
  const details = isNew ? begun(name) : template.data?.data;
  return (
    <Page title={details?.name ?? name} actions={details && !isNew && <TemplateActions template={details} />}>
      {isNew ? (
        <EmailEditor key={name} template={begun(name)} isNew />
      ) : (
        <Loaded query={template}>{({ data }) => <TemplateView template={data} />}</Loaded>
      )}
    </Page>
  );
}

const FIRST: EmailSource = {
  format: 'markdown',
  subject: '',
  preheader: '',
  body: 'Hi {{ user.name | default: "there" }},\n\n',
};

/** A new template with only a name. */
function begun(name: string): TemplateDetails {
  return {
    name,
    version: null,
    is_shipped: false,
    format: 'markdown',
    subject: '',
    used_by: [],
    has_unpublished: false,
    updated_at: null,
    published: FIRST,
    unpublished: null,
    versions: [],
    variables: [],
    users: 0,
    other_variables: [],
    open_untouched: 0,
  };
}

function TemplateView({ template }: { template: TemplateDetails }): ReactNode {
  const { tab = 'email' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <State template={template} />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ search: (was) => ({ ...was, tab: next ?? undefined }), replace: true })
        }
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="email">Template</Tabs.Tab>
          <Tabs.Tab value="versions">Versions ({template.versions.length})</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="email">
          <EmailEditor key={template.name} template={template} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <TemplateVersions template={template} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function State({ template }: { template: TemplateDetails }): ReactNode {
  const { id } = useProject();
  const mayEdit = useMay('editor');
  const { unpublished, used_by: users, is_shipped: isShipped, version } = template;
  return (
    <>
      {version === null && isShipped && (
        <Alert color="gray" mb="md" title="Built-in template">
          {mayEdit ? 'Edit and publish it to replace it in every rule that uses it.' : 'It is unchanged.'}
        </Alert>
      )}
      {unpublished && (
        <Alert mb="md" title="Unpublished version">
          Saved by {unpublished.saved_by}, <When at={unpublished.saved_at} style="relative" />. Users get the
          published version until you publish this one.
        </Alert>
      )}
      <Group gap="xs" mb="sm">
        <Text size="sm" c="dimmed">
          {users.length === 0 ? 'Not used by any rule.' : 'Used by'}
        </Text>
        {users.map(({ id: rule, name }) => (
          <Button
            key={rule}
            variant="default"
            size="compact-xs"
            renderRoot={(props) => (
              <Link to="/p/$project/rules/$rule" params={{ project: String(id), rule }} {...props} />
            )}
          >
            {name}
          </Button>
        ))}
      </Group>
    </>
  );
}
