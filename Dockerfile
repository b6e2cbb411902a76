# syntax=docker/dockerfile:1

# The server: an API, a dashboard, a guide, a worker and mail in, as one image.
#
#   docker build -t beckon-server .
#   docker run --init -p 127.0.0.1:8080:8080 -v beckon:/var/lib/beckon beckon-server
#
# With nothing else it has a PostgreSQL of its own in that volume; with DATABASE_URL or DATABASE_URL_FILE it uses yours (compose.yaml).
# Commands: docker exec <container> beckon projects list, docker exec <container> beckon-server doctor

# The same release of Node.js as package.json names: a test compares them.
ARG NODE_IMAGE=node:26.10.0-trixie-slim

# What is built of sources: the page and the guide.
FROM ${NODE_IMAGE} AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/cli/package.json packages/cli/
COPY packages/client/package.json packages/client/
COPY packages/contract/package.json packages/contract/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/postgres/package.json packages/postgres/
COPY packages/server/package.json packages/server/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run dashboard:build && npm run site:build

# The packages that the server and the command line import, and nothing else.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/cli/package.json packages/cli/
COPY packages/client/package.json packages/client/
COPY packages/contract/package.json packages/contract/
COPY packages/dashboard/package.json packages/dashboard/
COPY packages/postgres/package.json packages/postgres/
COPY packages/server/package.json packages/server/
COPY scripts/production-packages.ts scripts/
RUN npm ci --omit=dev --workspace @beckon/server --workspace @beckon/postgres --workspace @beckon/contract --workspace @beckon/cli --workspace @beckon/client \
 && node scripts/production-packages.ts /app \
 && rm -rf node_modules/.bin scripts packages/dashboard

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="beckon-server" \
      org.opencontainers.image.description="A lifecycle-email backend for SaaS products, self-hosted." \
      org.opencontainers.image.licenses="Apache-2.0"
# Whoever is given a volume of their own writes there, and nowhere else.
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/beckon
WORKDIR /app
COPY --from=dependencies /app ./
COPY LICENSE SECURITY.md ./
COPY packages/contract/src packages/contract/src
COPY packages/client/src packages/client/src
COPY packages/cli/src packages/cli/src
COPY packages/postgres/src packages/postgres/src
COPY packages/server/schema.sql packages/server/
COPY packages/server/src packages/server/src
COPY --from=built /app/packages/dashboard/dist packages/dashboard/dist
COPY --from=built /app/site/dist site/dist
COPY scripts/container-health.ts scripts/
COPY --chmod=0755 scripts/beckon scripts/beckon-server /usr/local/bin/

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    MAIL_IN_HOST=0.0.0.0 \
    DATA_DIR=/var/lib/beckon
VOLUME /var/lib/beckon
EXPOSE 8080 2525
USER node
# The embedded database is started and brought up to date first, which takes longest at the first start.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s --retries=3 \
  CMD ["node", "/app/scripts/container-health.ts"]
# SIGTERM ends what is under way first; give it 30 seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["beckon-server"]
CMD ["serve"]
