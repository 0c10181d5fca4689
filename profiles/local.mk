# Shipped profiles.
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA =
