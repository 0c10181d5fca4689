# Shipped profiles.
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA = profiles/build.json profiles/container.json profiles/offline.json profiles/review.json profiles/scratch.json
